import { expect, it } from 'vitest';
import { html, sentence } from '../../../../src/admin/page/html.ts';

it('a sentence shows what stands between backticks as code, and escapes all of it', () => {
  const { text } = html`<p>${sentence('Run `sync <x>`, or `doctor`: "now".')}</p>`;
  expect(text).toBe('<p>Run <code>sync &#60;x&#62;</code>, or <code>doctor</code>: &#34;now&#34;.</p>');
});
