"""The style sheet of all pages."""

CSS = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1b1b1b; --soft: #5c5c5c;
  --line: #d9d9d9; --head: #f4f4f4; --link: #0b5cad; --good: #cdeedd; --some: #e6f4d7;
  --none: #f6dfd6; --blank: #eeeeee; --first: #0072b2; --second: #d55e00; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181b; --ink: #e6e6e6; --soft: #a6a6a6;
  --line: #3b3f44; --head: #202428; --link: #7db8f0; --good: #14523a; --some: #35501b;
  --none: #5a3021; --blank: #2b3036; --first: #4ba3dc; --second: #f08a3c; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem 1.25rem 4rem; max-width: 76rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0.5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 0.75rem; padding-top: 0.5rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.5rem 0 0.5rem; overflow-wrap: anywhere; }
p { max-width: 48rem; margin: 0.5rem 0; }
a { color: var(--link); }
nav a { margin-right: 1rem; white-space: nowrap; }
.soft, .legend { color: var(--soft); font-size: 0.9rem; }
.wide { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; font-size: 0.9rem; margin: 0.5rem 0;
  font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.6rem; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line); }
thead th { background: var(--head); }
tbody th { font-weight: 500; }
td.number, th.number, .numbers td, .numbers thead th + th { text-align: right;
  white-space: nowrap; }
td.id, th.id, .fastrank tbody th { overflow-wrap: anywhere; min-width: 6rem; }
sup { line-height: 0; }
.better { color: #0a7d4f; } .worse { color: #c2410c; }
@media (prefers-color-scheme: dark) { .better { color: #4fd39c; } .worse { color: #ff9466; } }
code, pre { font: 0.85rem/1.45 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; }
figure { margin: 0.5rem 0; overflow-x: auto; }
figure svg { display: block; height: auto; width: 100%; }
figure svg * { stroke-linejoin: round; stroke-linecap: butt; }
figure svg text { fill: currentColor; }
figure img { display: block; max-width: 100%; height: auto; background: #ffffff;
  border-radius: 4px; }
.pair { display: flex; flex-wrap: wrap; gap: 0 1.5rem; align-items: flex-start; }
.pair figure:first-child { flex: 3 1 34rem; min-width: 0; }
.pair figure { flex: 2 1 20rem; min-width: 0; }
.sides { display: flex; flex-wrap: wrap; gap: 0 2rem; }
.sides > div { flex: 1 1 26rem; min-width: 0; overflow-x: auto; }
.sides table { width: 100%; }
.sides caption { text-align: left; font-weight: 600; overflow-wrap: anywhere; }
summary { cursor: pointer; font-weight: 600; padding: 0.25rem 0; overflow-wrap: anywhere; }
summary span { font-weight: 400; color: var(--soft); }
.grade { text-align: center; white-space: nowrap; }
.high { background: var(--good); } .low { background: var(--some); }
.zero { background: var(--none); }
.unjudged { color: var(--soft); font-style: italic; }
.title { display: block; color: var(--soft); font-size: 0.85rem; }
@media (max-width: 40rem) { body { padding: 0.75rem 0.75rem 3rem; }
  figure svg { min-width: 30rem; } .pair figure + figure svg { min-width: 18rem; } }
@media print { body { max-width: none; padding: 0; font-size: 10pt; } nav { display: none; }
  details::details-content { content-visibility: visible; block-size: auto; }
  .pair { display: block; } .sides { flex-wrap: nowrap; } .sides > div { flex: 1 1 50%; }
  .high, .low, .zero { print-color-adjust: exact; }
  figure, tr, p, section > .wide, .sides { break-inside: avoid; }
  h2, h3, h3 + p, summary { break-after: avoid; } }
"""
