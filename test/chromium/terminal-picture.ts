/** What a command printed on a terminal, as a page that a browser can draw. */

/** The sequences that style text, by what they do in CSS; any other ends all styles. */
const styles: Readonly<Record<string, string>> = {
  1: 'font-weight:700',
  2: 'opacity:.65',
  31: 'color:var(--red)',
  32: 'color:var(--green)',
  33: 'color:var(--yellow)',
  36: 'color:var(--cyan)',
};

/** An HTML document of this text, in cells of one width, dark where the reader's screen is. */
export function terminalPage(text: string): string {
  return `<!doctype html><meta charset="utf-8"><style>
:root { color-scheme: light dark; --paper: #fff; --ink: #1c2733; --red: #a61b12; --green: #0a6a4f; --yellow: #7a4f00; --cyan: #0b5f78; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #10161b; --ink: #dfe7ee; --red: #ffa197; --green: #63dcb6; --yellow: #f2c86d; --cyan: #7fd3ea; }
}
body { margin: 0; background: var(--paper); }
pre { display: inline-block; margin: 0; padding: 16px 20px; color: var(--ink); background: var(--paper); font: 14px/1.4 "DejaVu Sans Mono", ui-monospace, monospace; }
</style><pre>${styled(text.trimEnd())}</pre>`;
}

function styled(text: string): string {
  let open = 0;
  const close = (): string => {
    const closed = '</span>'.repeat(open);
    open = 0;
    return closed;
  };
  // eslint-disable-next-line no-control-regex -- the sequences begin with one
  const html = escaped(text).replaceAll(/\u001b\[([\d;]*)m/g, (_, codes: string) => {
    const css = codes.split(';').flatMap((code) => styles[code] ?? []);
    if (css.length === 0) return close();
    open += 1;
    return `<span style="${css.join(';')}">`;
  });
  return html + close();
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
