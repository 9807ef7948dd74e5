import { expect, it } from 'vitest';
import type { VisState } from '../../../src/domain/vendor.ts';
import { changeMessage } from '../../../src/sync/worker.ts';

const state = (vis_state: VisState) =>
  ({ vis_state, presence: 'present', updated_at: null, held_since_ms: 0 }) as const;

it.each<[VisState, VisState, string[], string]>([
  [0, 1, ['updated_at', 'vis_state'], 'vendor 7 was deleted'],
  [0, 2, ['vis_state'], 'vendor 7 was archived'],
  [1, 0, ['vis_state', 'phone'], 'vendor 7 was restored, and changed: phone'],
  [2, 2, ['phone', 'updated_at'], 'vendor 7 changed: phone, updated_at'],
])(
  'a vendor whose state changes from %i to %i, with %j changed, is logged as %s',
  (before, after, changed, message) => {
    expect(changeMessage(7, { kind: 'updated', before: state(before), after: state(after), changed })).toBe(message);
  },
);

it('a vendor that was read unchanged is not logged', () => {
  expect(changeMessage(7, { kind: 'unchanged', heldSince: 0, visState: 0 })).toBeUndefined();
});
