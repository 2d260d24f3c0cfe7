"""The style sheet and the script of HTML reports: no network, light and dark, screen and print."""

from typing import Final

STYLE: Final = """
:root{color-scheme:light dark;--text:#1b1f24;--back:#fff;--quiet:#57606a;--line:#d0d7de;--head:#f6f8fa;--link:#0550ae;
--good:#116329;--warning:#7d4e00;--bad:#a40e26;--fill:#3f6fb5;--new:#d08700;--rest:#e4e8ec;
--heat:31 90 168;--hot:200 80 0}
@media(prefers-color-scheme:dark){:root{--text:#e6edf3;--back:#0d1117;--quiet:#9aa4ae;--line:#3d444d;--head:#161b22;
--link:#79c0ff;--good:#56d364;--warning:#e3b341;--bad:#ff9490;--fill:#5b8fd9;--new:#e3a008;--rest:#2a313a;
--heat:110 170 250;--hot:250 150 60}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:90rem;font:15px/1.45 system-ui,sans-serif;
color:var(--text);background:var(--back)}
h1{font-size:1.3rem;margin:.5rem 0}h2{font-size:1.05rem;margin:1.8rem 0 .4rem}h3{font-size:.95rem;margin:1rem 0 .3rem}
.good{color:var(--good)}.warning{color:var(--warning)}.bad{color:var(--bad)}.detail{color:var(--quiet)}
.indented{margin-left:2rem}p{margin:.3rem 0;white-space:pre-line}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem}
th,td{text-align:left;vertical-align:top;padding:.2rem .7rem;border-bottom:1px solid var(--line);
overflow-wrap:break-word;white-space:pre-line}
thead th{background:var(--head);position:sticky;top:0;white-space:nowrap}tfoot td{font-weight:600}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}.w{white-space:nowrap}
th button{all:unset;cursor:pointer;font-weight:600}th[aria-sort=ascending] button::after{content:" \\25B2"}
th[aria-sort=descending] button::after{content:" \\25BC"}
button:focus-visible,input:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:2px solid var(--link);
outline-offset:2px}
input{font:inherit;padding:.2rem .5rem;margin:.2rem 0;border:1px solid var(--quiet);border-radius:4px;color:inherit;
background:var(--back)}
summary{cursor:pointer;font-weight:600;margin:1.2rem 0 .4rem}code,pre{background:var(--head);padding:.15rem .4rem}
pre{overflow-x:auto}
b{display:inline-block;width:5rem;height:.65rem;margin-right:.5rem;border:1px solid var(--quiet);
background:linear-gradient(to right,var(--fill) calc(var(--l)*1%),var(--new) 0 calc(var(--h)*1%),var(--rest) 0)}
.heat{display:flex;flex-wrap:wrap;gap:1px;max-width:34rem;min-width:12rem}
i{width:9px;height:9px;background:rgb(var(--heat)/var(--a));outline:1px solid rgb(var(--heat)/.35);outline-offset:-1px}
.h0{--a:.03}.h1{--a:.12}.h2{--a:.21}.h3{--a:.3}.h4{--a:.4}.h5{--a:.5}.h6{--a:.6}.h7{--a:.72}.h8{--a:.86}
.h9,.h10{background:rgb(var(--hot))}.x{background:none}
@media print{input,.filter{display:none}body{max-width:none;font-size:10pt}thead th{position:static}
td{overflow-wrap:anywhere}tr{break-inside:avoid}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""

FRAGMENT_STYLE: Final = """
.kubesched .good{color:#1a7f37}.kubesched .warning{color:#9a6700}.kubesched .bad{color:#cf222e}
.kubesched .detail{opacity:.75}.kubesched .indented{margin-left:2rem}.kubesched p{margin:.3rem 0;white-space:pre-line}
.kubesched th,.kubesched td{text-align:left;vertical-align:top;white-space:pre-line}
.kubesched .n{text-align:right;white-space:nowrap}.kubesched .w{white-space:nowrap}
.kubesched b{display:inline-block;width:5rem;height:.65rem;margin-right:.5rem;border:1px solid #808080;
background:linear-gradient(to right,#3f6fb5 calc(var(--l)*1%),#d08700 0 calc(var(--h)*1%),transparent 0)}
"""
"""The style of a report in a notebook: colours that are readable on white and on black."""

SCRIPT: Final = """
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0], rows = [...body.rows], order = new Intl.Collator(undefined, {numeric: true});
  const key = (row, i) => row.cells[i].dataset.v ?? row.cells[i].textContent;
  table.querySelectorAll("th button").forEach((button, i) => button.addEventListener("click", () => {
    const head = button.closest("th"), down = head.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const keyed = rows.map(row => [key(row, i), row]);
    keyed.sort((a, b) => (down ? -1 : 1) * order.compare(a[0], b[0]));
    body.append(...keyed.map(pair => pair[1]));
  }));
  const input = table.closest("section").querySelector("input");
  if (!input) continue;
  const count = input.closest(".filter").querySelector("output"), texts = [];
  input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase();
    let shown = 0;
    rows.forEach((row, i) => {
      texts[i] ??= row.textContent.toLowerCase();
      row.hidden = !texts[i].includes(wanted);
      shown += !row.hidden;
    });
    count.textContent = wanted ? `${shown} of ${rows.length} rows` : "";
  });
}
"""
