/** How the dashboard looks: by day, by night, and on a telephone. */
export const stylesheet = `:root {
  color-scheme: light dark;
  --paper: #f4f6f8; --card: #fff; --line: #e2e7ec; --ink: #16212c; --soft: #5b6b7b;
  --accent: #0f766e; --good: #0f766e; --good-wash: #dff3ee; --fair: #92600a; --fair-wash: #fbefd5;
  --bad: #b42318; --bad-wash: #fde7e4; --busy: #1d5fb4; --busy-wash: #e2edfb;
  --shade: 0 1px 2px rgb(16 24 40 / 6%), 0 4px 16px rgb(16 24 40 / 5%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #0d1216; --card: #151c22; --line: #26313a; --ink: #e6edf3; --soft: #93a3b1;
    --accent: #4fd1b8; --good: #5fd9c0; --good-wash: #10322d; --fair: #f0c465; --fair-wash: #38290c;
    --bad: #ff9c91; --bad-wash: #43191a; --busy: #8dbdff; --busy-wash: #14294a;
    --shade: none;
  }
}
* { box-sizing: border-box; margin: 0; }
[hidden] { display: none !important; }
body {
  max-width: 72rem; margin: 0 auto; padding: 1.25rem clamp(0.75rem, 3vw, 2rem) 2rem;
  background: var(--paper); color: var(--ink); font: 0.9375rem/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums;
}
a { color: var(--accent); }
small { color: var(--soft); font-size: 0.8em; font-weight: 400; }
code { font: 0.875em ui-monospace, monospace; overflow-wrap: anywhere; }
h2, code, td, li { unicode-bidi: isolate; }
ul { list-style: none; padding: 0; }
h3 { margin-bottom: 0.5rem; color: var(--soft); font-size: 0.75rem; font-weight: 600; letter-spacing: 0.05em; text-transform: uppercase; }

.masthead { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 0.75rem; margin-bottom: 1.25rem; }
.masthead h1 { margin-right: auto; font-size: 1.125rem; font-weight: 650; letter-spacing: -0.01em; }
.masthead .pill { padding: 0.25rem 0.875rem; font-size: 0.875rem; }

.pill { display: inline-block; padding: 0.0625rem 0.5rem; border-radius: 1rem; font-size: 0.8125rem; font-weight: 550; white-space: nowrap; }
.pill.good { background: var(--good-wash); color: var(--good); }
.pill.fair { background: var(--fair-wash); color: var(--fair); }
.pill.bad { background: var(--bad-wash); color: var(--bad); }
.pill.busy { background: var(--busy-wash); color: var(--busy); }

#lost { margin-bottom: 1rem; padding: 0.625rem 1rem; border-radius: 0.5rem; background: var(--bad-wash); color: var(--bad); }

.account { margin-bottom: 1.25rem; border: 1px solid var(--line); border-radius: 0.875rem; background: var(--card); box-shadow: var(--shade); overflow: hidden; }
.account > * { padding-inline: clamp(1rem, 2.5vw, 1.75rem); }
.verdict { display: grid; grid-template-columns: 1fr auto; gap: 0 1rem; padding-block: 1.25rem; border-top: 4px solid var(--good); }
.verdict.bad { border-top-color: var(--bad); }
.verdict h2 { grid-row: 1; grid-column: 2; color: var(--soft); font: 600 0.9375rem ui-monospace, monospace; line-height: 2.25rem; overflow-wrap: anywhere; }
.safe { font-size: 1.625rem; font-weight: 400; line-height: 2.25rem; letter-spacing: -0.02em; }
.safe strong { color: var(--good); font-weight: 650; }
.bad .safe strong { color: var(--bad); }
.meaning { grid-column: 1 / -1; color: var(--soft); }

.warnings { padding-block: 0.75rem; background: var(--fair-wash); color: var(--fair); }
.warnings li { padding-left: 1.25rem; text-indent: -1.25rem; }
.warnings li::before { content: '!'; display: inline-block; width: 1.25rem; text-indent: 0; font-weight: 700; }

.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(7rem, 1fr)); padding: 0; border-block: 1px solid var(--line); overflow: hidden; }
.tile { padding: 0.875rem clamp(1rem, 2.5vw, 1.75rem); box-shadow: 1px 1px 0 var(--line); }
.tile dt { color: var(--soft); font-size: 0.8125rem; }
.tile dd { font-size: 1.25rem; font-weight: 550; letter-spacing: -0.01em; white-space: nowrap; }
.tile.main dd { color: var(--accent); }
.tile.odd dd { color: var(--fair); }

.panels { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 4fr); gap: 1.5rem clamp(1.5rem, 4vw, 3rem); padding-block: 1.5rem; }
.runs { grid-column: 1 / -1; }
ul.plain li { margin-bottom: 0.375rem; }
.findings { display: grid; grid-template-columns: max-content 1fr; gap: 0.375rem 0.625rem; }
.findings li { display: contents; }
.findings b { text-align: right; }

figure { margin-top: 0.75rem; }
figcaption { color: var(--soft); font-size: 0.875rem; }
.chart { display: block; width: 100%; max-width: 32rem; height: auto; }
.chart text { fill: var(--soft); font-size: 10px; }
.chart .scale { text-anchor: end; }
.chart .date { text-anchor: middle; }
.chart .grid { stroke: var(--line); stroke-dasharray: 2 3; }
.chart .base { stroke: var(--line); }
.chart .quiet { fill: var(--soft); opacity: 0.5; }
.chart .heard { fill: var(--good); opacity: 0.55; }
.chart .lost { fill: var(--bad); opacity: 0.85; }

.scroll { overflow-x: auto; margin-inline: calc(-1 * clamp(1rem, 2.5vw, 1.75rem)); padding-inline: clamp(1rem, 2.5vw, 1.75rem); }
table { width: 100%; border-collapse: collapse; white-space: nowrap; }
th { padding: 0.25rem 1rem 0.375rem 0; color: var(--soft); font-size: 0.8125rem; font-weight: 500; text-align: left; }
td { padding: 0.4375rem 1rem 0.4375rem 0; border-top: 1px solid var(--line); }
th.number, td.number { text-align: right; }
:is(th, td):last-child { padding-right: 0; }
tr.error td { padding-top: 0; border-top: 0; color: var(--bad); white-space: normal; overflow-wrap: anywhere; }

footer { color: var(--soft); font-size: 0.8125rem; }
footer dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: 0.5rem 1rem; margin-bottom: 0.75rem; }
footer dd { color: var(--ink); }
footer nav { display: flex; gap: 1rem; }
.more { color: var(--soft); }

@media (max-width: 44rem) {
  .panels { grid-template-columns: minmax(0, 1fr); }
  .tiles { grid-template-columns: repeat(3, 1fr); }
  .safe { font-size: 1.375rem; }
}
`;
