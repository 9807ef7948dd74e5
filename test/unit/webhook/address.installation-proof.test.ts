import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { answerTo, proofOf } from '../../../src/webhook/address.ts';

const token = new Secret('k3yOfThisInstallation0');
const known = { tokens: new Map([['6BApk', token]]), nobodysToken: new Secret('k3yOfNobody') };
const nonce = 'n'.repeat(32);

describe('the proof of an installation', () => {
  it('is made of the challenge with the path token of the account only', () => {
    const challenge = `6BApk.${nonce}`;
    expect(answerTo(challenge, known)).toBe(proofOf(token, challenge));
    expect(answerTo(challenge, known)).not.toBe(proofOf(new Secret('another'), challenge));
    expect(answerTo(`6BApk.${'m'.repeat(32)}`, known)).not.toBe(answerTo(challenge, known));
    expect(answerTo(challenge, known)).not.toContain(token.reveal());
  });

  it('L64 does not reveal whether an account is served: of others it is as long, and the same after each start', () => {
    const later = { tokens: new Map(known.tokens), nobodysToken: new Secret('k3yOfNobody') };
    for (const account of ['other', '6BApk', 'nobody'])
      expect(answerTo(`${account}.${nonce}`, later)).toBe(answerTo(`${account}.${nonce}`, known));
    expect(answerTo(`other.${nonce}`, known)).toHaveLength(answerTo(`6BApk.${nonce}`, known)!.length);
  });

  it.each([
    undefined,
    '',
    '6BApk',
    '6BApk.short',
    `a b.${nonce}`,
    [`6BApk.${nonce}`, 'x'],
    `6BApk.${nonce}${'n'.repeat(64)}`,
  ])('is not made of what is not a challenge: %j', (challenge) => {
    expect(answerTo(challenge, known)).toBeUndefined();
  });
});
