/**
 * Style sheets of the HTML pages, inlined into each page. Colours meet the contrast of WCAG AA in
 * light and dark mode.
 */

/**
 * Styles of the header and the breadcrumbs. The playground and the API reference use only these,
 * because they have their own style sheets.
 */
export const LAYOUT_STYLE = `
:root{--bg:#fff;--fg:#1b1f24;--muted:#57606a;--line:#d0d7de;--soft:#f6f8fa;--link:#0a58ca;--accent:#0b6e4f;--on-accent:#fff;--bad:#b3261e;--bad-bg:#fdecea;--good-bg:#e6f4ea;--str:#0a5c36;--num:#8a3c00;--key:#4b2a8a}
@media (prefers-color-scheme:dark){:root{--bg:#0f1418;--fg:#e6edf3;--muted:#9aa7b4;--line:#30363d;--soft:#171d23;--link:#79b8ff;--accent:#3fb68b;--on-accent:#06130d;--bad:#ff9a90;--bad-bg:#3a1613;--good-bg:#10301f;--str:#7ee2a8;--num:#ffb37a;--key:#c9b3ff}}
[hidden]{display:none!important}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif}
header *,main,.crumbs,.crumbs *{box-sizing:border-box}
header a,.crumbs a,.skip{color:var(--link)}
a:focus-visible,button:focus-visible,input:focus-visible,select:focus-visible,textarea:focus-visible,summary:focus-visible{outline:3px solid var(--link);outline-offset:2px}
header{border-bottom:1px solid var(--line);background:var(--soft)}
header nav{display:flex;flex-wrap:wrap;gap:.25rem 1.1rem;align-items:center;max-width:72rem;margin:auto;padding:.7rem 1rem}
header nav a,header nav button{padding:.25rem 0}
.brand{font-weight:700;text-decoration:none;color:var(--fg)}
.grow{flex:1}
.inline{display:inline;margin:0}
main,.crumbs{max-width:72rem;margin:auto;padding:0 1rem}
.crumbs ol{list-style:none;display:flex;align-items:baseline;flex-wrap:wrap;gap:.3rem;margin:.8rem 0 0;padding:0;color:var(--muted);font-size:.9rem}
.crumbs li+li::before{content:"/";margin-right:.3rem}
.skip{position:absolute;left:-999px}
.skip:focus{left:1rem;top:.5rem;background:var(--bg);padding:.5rem}
@media (pointer:coarse){header nav a,header nav button,.crumbs a{display:inline-block;padding:.6rem 0}header nav{gap:0 1.1rem;padding:.3rem 1rem}}
button.link{border:0;background:none;color:var(--link);font:inherit;font-weight:400;text-decoration:underline;cursor:pointer}
`;

export const DEFAULT_STYLE = `${LAYOUT_STYLE}
*{box-sizing:border-box}
a{color:var(--link)}
main{padding-bottom:4rem}
h1{font-size:1.7rem;line-height:1.25;margin:1rem 0 .5rem}
h2{font-size:1.2rem;margin:2rem 0 .6rem}
h3{font-size:1rem;margin:1.4rem 0 .5rem}
p.lead{color:var(--muted);margin-top:0}
pre{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:.9rem;overflow:auto;font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{font:.92em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.4rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
.scroll{overflow-x:auto}
td time{white-space:nowrap}
.fields{display:grid;gap:.9rem;max-width:40rem}
form.filters{max-width:none;grid-template-columns:repeat(auto-fit,minmax(min(100%,12rem),1fr));align-items:start;margin-bottom:1rem}
label{display:block;font-weight:600;margin-bottom:.2rem}
input,select,textarea{width:100%;padding:.5rem .6rem;border:1px solid var(--muted);border-radius:6px;background:var(--bg);color:var(--fg);font:inherit}
input[type=checkbox],input[type=radio]{width:auto}
select{min-height:2.65rem}
textarea{min-height:7rem;font-family:ui-monospace,monospace}
.help{color:var(--muted);font-size:.9rem;margin:.2rem 0 0}
.error{color:var(--bad);font-size:.95rem;margin:.2rem 0 0}
.alert{border:1px solid var(--bad);background:var(--bad-bg);border-radius:6px;padding:.7rem .9rem}
.notice{border:1px solid var(--accent);background:var(--good-bg);border-radius:6px;padding:.7rem .9rem}
button:not(.link),.button{display:inline-block;border:1px solid var(--accent);background:var(--accent);color:var(--on-accent);border-radius:6px;padding:.45rem .9rem;font:inherit;font-weight:600;text-decoration:none;cursor:pointer}
button.plain,.button.plain{background:var(--bg);color:var(--fg);border-color:var(--muted)}
button.danger{background:var(--bad);border-color:var(--bad);color:var(--bg)}
.row{display:flex;flex-wrap:wrap;gap:.6rem;align-items:center}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:1rem;padding:0;list-style:none}
.cards li{border:1px solid var(--line);border-radius:8px;padding:1rem}
.cards h2{margin:0 0 .3rem}
.cards p{margin:0}
.hero{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:1rem 2.5rem;align-items:center;margin-top:1rem}
.hero h1{font-size:2.1rem}
.picture{display:grid;justify-items:center;gap:1rem;border:1px solid var(--line);border-radius:12px;padding:1.2rem}
.picture .chart{width:100%}
.picture svg{display:block;width:100%;height:auto}
.picture img{max-width:100%}
.ways{grid-template-columns:1fr}
@media print,(min-width:44rem){.ways{grid-template-columns:repeat(3,1fr)}}
.cards h3{margin:0 0 .3rem}
.halves{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:1rem}
.halves>*{min-width:0}
.row code{overflow-wrap:anywhere}
fieldset.box{border:1px solid var(--line);border-radius:6px;padding:.5rem .9rem}
fieldset.box legend{font-weight:600}
label.inline{display:inline;font-weight:400}
details{border:1px solid var(--line);border-radius:6px;padding:.5rem .9rem;margin:.8rem 0}
summary{cursor:pointer;font-weight:600}
@media (pointer:coarse){
button:not(.link),.button{padding:.6rem .9rem}
input:not([type=checkbox]):not([type=radio]),select{min-height:2.75rem}
input[type=checkbox],input[type=radio]{width:1.3rem;height:1.3rem;vertical-align:-.25rem}
details{padding:0 .9rem}
details[open]{padding-bottom:.6rem}
summary{padding:.65rem 0}
}
@media print{
:root{color-scheme:light;--bg:#fff;--fg:#000;--muted:#444;--line:#bbb;--soft:#fff;--link:#000;--accent:#0b6e4f;--bad:#8a1a13;--str:#0a5c36;--num:#8a3c00;--key:#4b2a8a}
header,.crumbs,.skip,button,.button{display:none!important}
body{font-size:10.5pt}
main{max-width:none;padding:0}
a{color:inherit;text-decoration:none}
.scroll,pre{overflow:visible}
pre{white-space:pre-wrap;overflow-wrap:anywhere}
}
.str{color:var(--str)}.num{color:var(--num)}.key{color:var(--key)}
`;
