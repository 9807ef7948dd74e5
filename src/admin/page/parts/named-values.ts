/** The rows of a list of names and values; the caller puts them into a `<dl>`. */
import { html, type Html } from './html.ts';

export function namedValues(entries: readonly (readonly [name: string, value: Html | string])[]): Html[] {
  return entries.map(
    ([name, value]) =>
      html`<div>
        <dt>${name}</dt>
        <dd>${value}</dd>
      </div>`,
  );
}
