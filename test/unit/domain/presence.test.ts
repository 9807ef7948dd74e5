/** The states of a vendor's presence: every state with every evidence, and what is learned of lists. */
import { describe, expect, it } from 'vitest';
import {
  isAbsent,
  isStateShown,
  meaningOfUnlisted,
  nextPresence,
  presences,
  type PresenceEvidence,
  type PresenceState,
} from '../../../src/domain/presence.ts';

const lag = 5_000;
/** When the first proof of a suspect ended. */
const since = 100_000;

const states = {
  present: { presence: 'present', since: null },
  suspect: { presence: 'suspect', since },
  'suspect of an earlier version': { presence: 'suspect', since: null },
  missing: { presence: 'missing', since },
  gone: { presence: 'gone', since },
} as const satisfies Record<string, PresenceState>;

const request = (kind: 'unlisted' | 'not_found', begun: number): PresenceEvidence => ({
  kind,
  begun,
  ended: begun + 700,
});
const tooSoon = since + lag - 1;
const later = since + lag;

const kinds: Readonly<Record<string, PresenceEvidence>> = {
  shown: { kind: 'shown' },
  withdrawn: { kind: 'withdrawn' },
  'unlisted too soon': request('unlisted', tooSoon),
  'unlisted later': request('unlisted', later),
  'not found too soon': request('not_found', tooSoon),
  'not found later': request('not_found', later),
};

const ended = (begun: number): number => begun + 700;

/** The state before, the evidence, and the state after. */
const table: readonly (readonly [keyof typeof states, keyof typeof kinds, PresenceState])[] = [
  ['present', 'shown', states.present],
  ['present', 'withdrawn', states.present],
  ['present', 'unlisted too soon', { presence: 'suspect', since: ended(tooSoon) }],
  ['present', 'unlisted later', { presence: 'suspect', since: ended(later) }],
  ['present', 'not found too soon', { presence: 'suspect', since: ended(tooSoon) }],
  ['present', 'not found later', { presence: 'suspect', since: ended(later) }],
  ['suspect', 'shown', states.present],
  ['suspect', 'withdrawn', states.present],
  ['suspect', 'unlisted too soon', states.suspect],
  ['suspect', 'unlisted later', { presence: 'missing', since: ended(later) }],
  ['suspect', 'not found too soon', states.suspect],
  ['suspect', 'not found later', { presence: 'gone', since: ended(later) }],
  ['suspect of an earlier version', 'shown', states.present],
  ['suspect of an earlier version', 'withdrawn', states.present],
  ['suspect of an earlier version', 'unlisted too soon', { presence: 'suspect', since: ended(tooSoon) }],
  ['suspect of an earlier version', 'unlisted later', { presence: 'suspect', since: ended(later) }],
  ['suspect of an earlier version', 'not found too soon', { presence: 'suspect', since: ended(tooSoon) }],
  ['suspect of an earlier version', 'not found later', { presence: 'suspect', since: ended(later) }],
  ['missing', 'shown', states.present],
  ['missing', 'withdrawn', states.missing],
  ['missing', 'unlisted too soon', states.missing],
  ['missing', 'unlisted later', states.missing],
  ['missing', 'not found too soon', states.gone],
  ['missing', 'not found later', states.gone],
  ['gone', 'shown', states.present],
  ['gone', 'withdrawn', states.gone],
  ['gone', 'unlisted too soon', states.gone],
  ['gone', 'unlisted later', states.gone],
  ['gone', 'not found too soon', states.gone],
  ['gone', 'not found later', states.gone],
];

describe('the presence of a vendor', () => {
  it('is tested with every evidence in every state', () => {
    expect(table).toHaveLength(Object.keys(states).length * Object.keys(kinds).length);
  });

  it.each(table)('L9 L10 %s, %s', (before, evidence, after) => {
    expect(nextPresence(states[before], kinds[evidence]!, lag)).toEqual(after);
  });

  it('L9 is never absent by one proof, whatever it is', () => {
    for (const evidence of Object.values(kinds))
      // Nor where the row of a present vendor still carries a moment.
      for (const left of [null, 0])
        expect(isAbsent(nextPresence({ presence: 'present', since: left }, evidence, 0).presence)).toBe(false);
  });

  it('L10 is not absent by two sweeps at once, even without a lag', () => {
    const other = { kind: 'unlisted', begun: since - 1, ended: since + 20 } as const;
    expect(nextPresence(states.suspect, other, 0)).toEqual(states.suspect);
    expect(nextPresence(states.suspect, { ...other, begun: since }, 0)).toMatchObject({ presence: 'missing' });
  });

  it('L10 of two sweeps at once, the one that ended first is the first proof, whichever is stored first', () => {
    const first = { kind: 'unlisted', begun: since - 900, ended: since - 40 } as const;
    const after = nextPresence(states.suspect, first, lag);
    expect(after).toEqual({ presence: 'suspect', since: since - 40 });
    // What each of them waits for by itself.
    const second = { kind: 'unlisted', begun: first.ended + lag, ended: since + lag + 700 } as const;
    expect(nextPresence(after, second, lag)).toMatchObject({ presence: 'missing' });
  });
});

describe('a vendor that a complete sweep did not list', () => {
  const every = presences.flatMap((presence) =>
    [false, true].flatMap((isRecent) => [false, true].map((isShown) => ({ presence, isRecent, isShown }))),
  );

  it.each(every)('$presence, recent $isRecent, of a state that lists show $isShown', (vendor) => {
    const { presence, isRecent, isShown } = vendor;
    const open = isShown ? 'suspect' : 'hidden';
    const here = isRecent ? 'recent' : open;
    expect(meaningOfUnlisted(vendor)).toBe(presence === 'missing' || presence === 'gone' ? 'absent' : here);
  });
});

describe('whether lists show a state', () => {
  it.each([
    ['two were shown', false, { shown: 2, leftOut: 0, found: 0 }, false],
    ['three were shown', false, { shown: 3, leftOut: 0, found: 0 }, true],
    ['three were shown and one was left out', false, { shown: 3, leftOut: 1, found: 0 }, false],
    ['three were shown and one more was left out that a read found', false, { shown: 3, leftOut: 1, found: 1 }, false],
    ['none was shown', true, { shown: 0, leftOut: 40, found: 0 }, true],
    ['two were left out that reads found', true, { shown: 9, leftOut: 2, found: 2 }, true],
    ['three were left out that reads found', true, { shown: 9, leftOut: 3, found: 3 }, false],
    ['three were left out, and reads found two of them', true, { shown: 9, leftOut: 3, found: 2 }, true],
  ])('L8 L9 %s, and so far it is shown: %s', (_, before, listing, after) => {
    expect(isStateShown(before, listing)).toBe(after);
  });
});
