import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { answerTo, proofOf } from '../../../src/webhook/address.ts';

const token = new Secret('k3yOfThisInstallation0');
const tokens = new Map([['6BApk', token]]);
const nonce = 'n'.repeat(32);

describe('the proof of an installation', () => {
  it('is made of the challenge with the path token of the account only', () => {
    const challenge = `6BApk.${nonce}`;
    expect(answerTo(challenge, tokens)).toBe(proofOf(token, challenge));
    expect(answerTo(challenge, tokens)).not.toBe(proofOf(new Secret('another'), challenge));
    expect(answerTo(`6BApk.${'m'.repeat(32)}`, tokens)).not.toBe(answerTo(challenge, tokens));
    expect(answerTo(challenge, tokens)).not.toContain(token.reveal());
  });

  it('does not reveal whether an account is served', () => {
    expect(answerTo(`other.${nonce}`, tokens)).toHaveLength(answerTo(`6BApk.${nonce}`, tokens)!.length);
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
    expect(answerTo(challenge, tokens)).toBeUndefined();
  });
});
