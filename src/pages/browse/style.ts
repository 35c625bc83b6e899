import { STYLE } from '../style';

/** What the pages of the API need besides the style of all pages. */
export const BROWSE_STYLE = `${STYLE}
.tag{font-size:.8rem;font-weight:600;border:1px solid var(--accent);color:var(--accent);border-radius:99px;padding:.1rem .6rem;margin-left:.6rem;vertical-align:middle}
.exchange{margin:1rem 0}
.exchange .line{margin:0;border-radius:6px 6px 0 0;font-size:14px;padding:.6rem .9rem}
.exchange .answer{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;align-items:baseline;border:1px solid var(--line);border-top:0;border-radius:0 0 6px 6px;margin:0;padding:.5rem .9rem}
.exchange details{border:0;padding:0;margin:.4rem 0 0;font-size:.9rem}
.exchange summary{font-weight:400;color:var(--muted)}
.methods code{margin-right:.5rem}
.methods .help{margin:0}
.formats{margin-left:auto;display:flex;gap:1rem}
.status{font-weight:700}
.status.good{color:var(--accent)}.status.bad{color:var(--bad)}
.headers{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:0 1.4rem;align-items:baseline;margin:.4rem 0}
.headers div{display:contents}
.headers dt{color:var(--muted)}
.headers dd{margin:0;font-family:ui-monospace,monospace;font-size:.85rem;overflow-wrap:anywhere}
.related ul{list-style:none;padding:0;margin:.6rem 0;display:flex;flex-wrap:wrap;gap:.4rem 1.4rem}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(13rem,1fr));gap:.9rem;margin:.8rem 0}
.count{font-weight:400;color:var(--muted)}
.label{font-weight:600;margin-bottom:.2rem}
.label .name{font-weight:400;color:var(--muted);font-size:.82rem}
.required{font-weight:400;color:var(--muted);font-size:.82rem}
.field.wrong input,.field.wrong select,.field.wrong textarea{border:2px solid var(--bad)}
.field.wrong{border-left:4px solid var(--bad);padding-left:.8rem}
.checks{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem}
.checks label{font-weight:400;margin:0}
.alert ul{margin:.4rem 0 0;padding-left:1.2rem}
.alert p{margin:.2rem 0}
.ordering{display:flex;flex-wrap:wrap;gap:.2rem 1rem;align-items:baseline;font-size:.95rem;margin:.8rem 0}
.ordering ul{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;list-style:none;margin:0;padding:0}
.ordering li a{display:inline-block;min-width:1.6rem;padding:.1rem .3rem;text-align:center;text-decoration:none;border-radius:4px}
.ordering li a:hover{background:var(--soft)}
.ordering .chosen{font-weight:700}
.ordering a.current{background:var(--accent);color:var(--on-accent)}
.neighbours{margin:1rem 0}
.button.plain.off{font-weight:400;color:var(--muted);border-color:var(--line);cursor:default}
.json{max-height:42rem;white-space:pre-wrap;overflow-wrap:anywhere}
.json a{text-decoration:underline;text-underline-offset:2px}
.json a .num{color:var(--link)}
.lit{color:var(--key)}
.method{font-weight:400;font-size:.8rem;margin-left:.3rem}
.halves{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:1rem}
.halves>div{min-width:0}
.halves h3{font-size:1rem;margin:.4rem 0}
.halves pre{max-height:26rem;margin:0}
.chart{margin:1.2rem 0;border:1px solid var(--line);border-radius:8px;padding:.8rem}
.chart figcaption{font-weight:600;margin-bottom:.4rem}
.chart .help{font-weight:400}
.chart svg{display:block;width:100%;min-width:46rem;height:auto}
.nutrition{margin:1rem 0;width:auto;min-width:min(100%,26rem)}
.nutrition caption{text-align:left;font-weight:600;padding:.3rem 0}
.nutrition th{font-weight:400}
.nutrition tbody th{min-width:7.5rem}
.nutrition thead th{color:var(--muted);font-size:.9rem}
.nutrition .inner{padding-left:1.6rem;color:var(--muted)}
.nutrition .number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.track{display:block;min-width:4rem;height:.7rem;background:var(--soft);border-radius:4px;margin-top:.45rem;overflow:hidden}
.number .track{min-width:4rem;height:.35rem;margin-top:.2rem}
.nutrition tbody td:last-child:not(.number){width:50%}
.bar{display:block;height:100%;background:var(--accent)}
.pictures{display:flex;flex-wrap:wrap;gap:.8rem;list-style:none;padding:0;margin:1rem 0;align-items:flex-end}
.pictures img{display:block;object-fit:contain;background:#fff;border:1px solid var(--line);border-radius:6px}
.sizes img{max-width:min(100%,25rem);height:auto}
.locked p{margin-top:0}
.locked{border:1px solid var(--line);border-radius:6px;padding:.7rem .9rem;background:var(--soft)}
.deletion summary{color:var(--bad)}
.cards .help{margin-bottom:0}
`;
