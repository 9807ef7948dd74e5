/** The states of a vendor's presence: every state with every evidence. */
import { describe, expect, it } from 'vitest';
import {
  isAbsent,
  meaningOfUnlisted,
  nextPresence,
  presences,
  type Presence,
  type PresenceEvidence,
} from '../../../src/domain/presence.ts';

/** The state before, the evidence, and the state after; null where the evidence is void. */
const table: readonly (readonly [Presence, PresenceEvidence, Presence | null])[] = [
  ['present', 'shown', 'present'],
  ['suspect', 'shown', 'present'],
  ['missing', 'shown', 'present'],
  ['gone', 'shown', 'present'],
  ['present', 'unlisted', 'suspect'],
  ['suspect', 'unlisted', 'suspect'],
  ['missing', 'unlisted', 'missing'],
  ['gone', 'unlisted', 'gone'],
  ['present', 'unlisted_again', null],
  ['suspect', 'unlisted_again', 'missing'],
  ['missing', 'unlisted_again', 'missing'],
  ['gone', 'unlisted_again', null],
  ['present', 'not_found', 'gone'],
  ['suspect', 'not_found', 'gone'],
  ['missing', 'not_found', 'gone'],
  ['gone', 'not_found', 'gone'],
];

describe('the presence of a vendor', () => {
  it.each(table)('%s, %s, is %s', (before, evidence, after) => {
    expect(nextPresence(before, evidence) ?? null).toBe(after);
  });

  it('is never absent by one list alone', () => {
    for (const before of presences)
      if (!isAbsent(before)) expect(isAbsent(nextPresence(before, 'unlisted')), before).toBe(false);
  });
});

describe('a vendor that a complete sweep did not list', () => {
  const every = presences.flatMap((presence) =>
    [0, 1, 2, null].flatMap((visState) =>
      [false, true].flatMap((isRecent) =>
        [false, true].map((showsDeleted) => ({ presence, visState, isRecent, showsDeleted })),
      ),
    ),
  );

  it.each(every)('$presence, state $visState, recent $isRecent, deleted ones shown $showsDeleted', (vendor) => {
    const { presence, visState, isRecent, showsDeleted } = vendor;
    const isHidden = presence === 'present' && visState === 1 && !showsDeleted;
    const open = isHidden ? 'hidden' : 'suspect';
    const here = isRecent ? 'recent' : open;
    expect(meaningOfUnlisted(vendor)).toBe(presence === 'missing' || presence === 'gone' ? 'absent' : here);
  });
});
