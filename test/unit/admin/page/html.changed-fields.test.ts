/** How the page shows the old and new values of a change. */
import { expect, it } from 'vitest';
import { changedFields } from '../../../../src/admin/page/html.ts';

it('a value that was never set and an empty text are shown as different values', () => {
  const shown = changedFields([{ seq: 1, field: 'country', old: null, new: '' }])!.text.replaceAll(/\s+/g, ' ');
  expect(shown).toContain('<del><i>no value</i></del> → <ins><i>empty</i></ins>');
});
