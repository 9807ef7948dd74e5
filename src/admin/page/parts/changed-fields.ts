/** What a change did to a vendor's fields. */
import type { FieldChange } from '../../../store/reports/field-changes.ts';
import { html, type Html } from './html.ts';

/** Field by field, from what to what; nothing where no field changed. */
export function changedFields(fields: readonly FieldChange[]): Html | null {
  if (fields.length === 0) return null;
  return html`<ul class="fields">
    ${fields.map(
      ({ field, old, new: fresh }) =>
        html`<li>
          <code>${field}</code>: <del><bdi>${old || 'nothing'}</bdi></del> → <ins><bdi>${fresh || 'nothing'}</bdi></ins>
        </li>`,
    )}
  </ul>`;
}
