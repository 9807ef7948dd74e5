/** The states of a verification code: every state with every evidence. */
import { describe, expect, it } from 'vitest';
import { isKey, nextCode, waitsToBeTried, type Code, type CodeEvidence } from '../../../src/domain/verifier.ts';

const codes = {
  'no code': undefined,
  candidate: { state: 'candidate', cameAgain: false },
  proven: { state: 'proven', cameAgain: false },
  'proven +': { state: 'proven', cameAgain: true },
  previous: { state: 'previous', cameAgain: false },
  'previous +': { state: 'previous', cameAgain: true },
} as const satisfies Record<string, Code | undefined>;

type Name = keyof typeof codes;

/** The code after the evidence, for each code before it in the order of `codes`; `+` came again and waits to be tried. */
const table: Readonly<Record<CodeEvidence, readonly Name[]>> = {
  received: ['candidate', 'candidate', 'proven +', 'proven +', 'previous +', 'previous +'],
  wrong: ['no code', 'no code', 'proven', 'proven', 'previous', 'previous'],
  right: ['proven', 'proven', 'proven', 'proven', 'proven', 'proven'],
  superseded: ['no code', 'no code', 'previous', 'previous +', 'previous', 'previous +'],
  expired: ['no code', 'candidate', 'proven', 'proven +', 'no code', 'no code'],
};

const names = Object.keys(codes) as Name[];
const rows = (Object.keys(table) as CodeEvidence[]).flatMap((evidence) =>
  table[evidence].map((after, index) => ({ before: names[index]!, evidence, after })),
);

describe('a verification code', () => {
  it.each(rows)('$before, $evidence, is $after', ({ before, evidence, after }) => {
    expect(nextCode(codes[before], evidence)).toEqual(codes[after]);
  });

  it('is tried while it is a candidate, or came again', () => {
    const tried = names.filter((name) => codes[name] && waitsToBeTried(codes[name]));
    expect(tried).toEqual(['candidate', 'proven +', 'previous +']);
  });

  it.each([
    ['candidate', false, false],
    ['candidate', true, false],
    ['proven', false, true],
    ['proven', true, true],
    ['previous', false, true],
    ['previous', true, false],
  ] as const)('%s, expired %s: may verify a signature %s', (state, isExpired, is) => {
    expect(isKey({ state }, isExpired)).toBe(is);
  });
});
