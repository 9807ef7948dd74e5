/** What a change did to a vendor's fields. */
import type { FieldChange } from '../../../store/reports/field-changes.ts';
import { html, type Html } from './html.ts';

/** Old and new value of each field; null where no field changed. */
export function changedFields(fields: readonly FieldChange[]): Html | null {
  if (fields.length === 0) return null;
  return html`<ul class="fields">
    ${fields.map(
      ({ field, old, new: fresh }) =>
        html`<li><code>${field}</code>: <del>${valueWords(old)}</del> → <ins>${valueWords(fresh)}</ins></li>`,
    )}
  </ul>`;
}

function valueWords(value: string | null): Html {
  if (value === null) return html`<i>no value</i>`;
  return value === '' ? html`<i>empty</i>` : html`<bdi>${value}</bdi>`;
}
