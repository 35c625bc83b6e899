/** Style sheet of the browsable pages, including the common style sheet. */
import { DEFAULT_STYLE } from '../style';

export const BROWSE_STYLE = `${DEFAULT_STYLE}
.tag{font-size:.8rem;font-weight:600;border:1px solid var(--accent);color:var(--accent);border-radius:99px;padding:.1rem .6rem;margin-left:.6rem;vertical-align:middle}
.exchange .line{margin:.5rem 0 0;border-radius:6px 6px 0 0;font-size:14px;padding:.6rem .9rem}
.exchange .answer{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;align-items:baseline;border:1px solid var(--line);border-top:0;border-radius:0 0 6px 6px;margin:0;padding:.5rem .9rem}
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
.optional{font-weight:400;color:var(--muted);font-size:.82rem}
.field.wrong input,.field.wrong select,.field.wrong textarea{border:2px solid var(--bad)}
.field.wrong{border-left:4px solid var(--bad);padding-left:.8rem}
.checks{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem}
.field .checks{margin:.5rem 0}
#write{margin-top:.8rem}
.checks label{font-weight:400;margin:0}
.versions{flex-direction:column}
.versions .value{white-space:pre-wrap;overflow-wrap:anywhere;font-weight:600}
.alert ul{margin:.4rem 0 0;padding-left:1.2rem}
.alert p{margin:.2rem 0}
.rows th,.rows td{padding:.35rem .7rem .35rem 0}
.rows thead th{white-space:nowrap;font-size:.9rem;color:var(--muted);border-bottom:2px solid var(--line)}
.rows thead a{color:inherit;text-decoration:none}
.rows thead a:hover{text-decoration:underline}
.rows thead [aria-sort]{color:var(--fg)}
.rows tbody th{font-weight:600;min-width:9rem}
.rows .number{text-align:right;font-variant-numeric:tabular-nums}
.rows .day{white-space:nowrap}
.rows tbody tr:hover{background:var(--soft)}
.thumb{width:40px;height:40px;object-fit:contain;vertical-align:middle;border-radius:4px}
.rows tbody th .thumb{float:left;margin-right:.6rem}
.rows td{min-width:5.6rem}
img[src*="/media/"]{background:#fff}
@media screen and (max-width:44rem){
.rows,.rows tbody,.rows tr,.rows td,.rows tbody th{display:block}
.rows thead{display:none}
.rows tbody tr{border:1px solid var(--line);border-radius:8px;padding:.5rem .8rem;margin:0 0 .6rem}
.rows td,.rows tbody th{border:0;padding:.1rem 0;text-align:left}
.rows tbody td{display:flow-root;padding-left:8.5rem;text-align:left;overflow-wrap:anywhere}
.rows td::before{float:left;width:8rem;margin-left:-8.5rem;color:var(--muted);font-size:.9rem}
.rows td:empty{display:none}
.rows tbody .number{text-align:left}
}
.detail{display:flex;flex-wrap:wrap;gap:1rem 2rem;align-items:flex-start;margin:1rem 0}
.facts{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.35rem 1.4rem;margin:0;flex:1;min-width:min(100%,22rem)}
.facts div{display:contents}
.facts dt{color:var(--muted)}
.facts dd{margin:0;overflow-wrap:anywhere;white-space:pre-line;max-width:42rem}
@media (max-width:44rem){.facts{grid-template-columns:minmax(0,9rem) minmax(0,1fr)}}
.plan{display:flex;flex-wrap:wrap;gap:1rem 2rem;align-items:flex-start;margin:1rem 0}
.plan .whole{flex:0 0 100%;margin:1rem 0 -.4rem}
.day ol{margin:.3rem 0;padding-left:1.4rem}
.day h3{margin:.2rem 0}
.figure{object-fit:contain;border:1px solid var(--line);border-radius:8px;padding:.5rem}
.api{margin-top:2.5rem}
.neighbours{margin:1rem 0}
@media (pointer:coarse){
.found a{display:inline-block;padding:.6rem 0}
.rows tbody th a{display:inline-block;padding:.6rem 0}
.periods a,.further a,.checks label{display:inline-block;padding:.6rem 0}
}
@media screen and (max-width:44rem) and (pointer:coarse){.rows tbody tr{padding-top:0}.rows tbody th a{display:block}}
.button.plain.off{font-weight:400;color:var(--muted);border-color:var(--line);cursor:default}
.json{max-height:42rem;white-space:pre-wrap;overflow-wrap:anywhere}
.json a{text-decoration:underline;text-underline-offset:2px}
.json a .num{color:var(--link)}
.lit{color:var(--key)}
.chart{margin:1.2rem 0;border:1px solid var(--line);border-radius:8px;padding:.8rem}
.periods{margin-bottom:.6rem}
.periods [aria-current]{font-weight:700;color:inherit;text-decoration:none}
.values{width:auto;margin:.6rem 0}
.values .number{text-align:right;font-variant-numeric:tabular-nums}
.chart details{margin-bottom:0}
.chart figcaption{font-weight:600;margin-bottom:.4rem}
.chart .help{font-weight:400}
.chart svg{display:block;width:100%;min-width:46rem;height:auto;direction:ltr}
.chart .scroll[role=img]{direction:rtl}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.4rem;list-style:none;margin:.4rem 0;padding:0;color:var(--muted);font-size:.85rem}
.legend li::before{content:"";display:inline-block;width:1.2rem;margin-right:.5rem;vertical-align:middle;border-top:3px solid var(--ink)}
.legend .dashed::before{border-top-style:dashed}
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
.found{columns:18rem;list-style:none;padding:0}
.unbroken{white-space:nowrap}
.locked p{margin-top:0}
.locked{border:1px solid var(--line);border-radius:6px;padding:.7rem .9rem;background:var(--soft)}
.deletion summary{color:var(--bad)}
.cards .help{margin-bottom:0}
.cards .button{margin-top:.6rem}
.changes{list-style:none;margin:0;padding:0;overflow-wrap:anywhere}
@media print{
.filters,.api,.neighbours a,.neighbours .off,.write,.deletion,.related,.periods,.further,.chart details{display:none}
.json{max-height:none}
.rows th,.rows td,.rows tbody th{padding:.15rem .5rem .15rem 0;font-size:7.5pt;min-width:0;hyphens:auto}
.rows thead th{white-space:normal;font-size:7.5pt}
.rows tr,.chart{break-inside:avoid}
.chart svg{min-width:0}
}
`;
