/** Secrets as a type that cannot be printed. */
import { inspect } from 'node:util';

/** The rows of a keyboard. */
const keys = 'qwertyuiop asdfghjkl zxcvbnm';

/**
 * Whether a secret that a person chose is soon guessed: it is shorter than `characters`, blanks and what cannot be seen left aside, has
 * only a few different ones, repeats a part that is shorter, mostly goes along the alphabet or the keyboard, or is foreseen in more than a
 * fifth of those characters: by pairs that came before, and steps that go on.
 */
export function isWeak(text: string, characters: number): boolean {
  const visible = Array.from(text.replaceAll(/[\p{Z}\p{C}\u{2800}]/gu, ''));
  const repeats = (length: number): boolean => visible.every((one, at) => one === visible[at % length]);
  const parts = Array.from({ length: Math.min(characters - 1, visible.length >> 1) }, (_, index) => index + 1);
  const steps = visible.map((one, at) => stepsTo(one, visible[at - 1]));
  const pairs = visible.map((one, at) => (visible[at - 1] ?? '') + one);
  const isForeseen = (_: string, at: number): boolean =>
    pairs.indexOf(pairs[at] ?? '') < at ||
    (steps[at] ?? []).some((step, kind) => isShort(step) && step === steps[at - 1]?.[kind]);
  return (
    visible.length < characters ||
    new Set(visible).size < 6 ||
    parts.some(repeats) ||
    steps.filter((to) => to.some(isShort)).length >= 0.75 * (visible.length - 1) ||
    visible.length - visible.filter(isForeseen).length < 0.8 * characters
  );
}

const isShort = (step: number): boolean => Math.abs(step) <= 1;

/** How far a character is from the one before it, in the alphabet and on the keyboard; NaN where it is not there. */
function stepsTo(one: string, before = ''): readonly number[] {
  const keyOf = (letter: string): number => (letter === '' ? NaN : keys.indexOf(letter.toLowerCase()));
  const onKeyboard = keyOf(before) < 0 || keyOf(one) < 0 ? NaN : keyOf(one) - keyOf(before);
  return [(one.codePointAt(0) ?? NaN) - (before.codePointAt(0) ?? NaN), onKeyboard];
}

/** A token, verifier or path token. Printing, logging or serialising it shows `[redacted]`; only `reveal` gives it out. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[redacted]';
  }

  toJSON(): string {
    return '[redacted]';
  }

  [inspect.custom](): string {
    return '[redacted]';
  }
}

/** A text without secrets that another program repeats in it: as they are, in other case, escaped as in addresses or in JSON, or in base64. */
export function redacted(text: string, secrets: readonly (Secret | undefined)[]): string {
  return secrets.reduce<string>((left, secret) => {
    const value = secret?.reveal() ?? '';
    if (value === '') return left;
    const plain = new RegExp(Array.from(value, spellings).join(''), 'giu');
    return left.replaceAll(plain, '[redacted]').replaceAll(inBase64(value), '[redacted]');
  }, text);
}

/** How a character may stand in a text. */
function spellings(character: string): string {
  const escape = (of: string): string =>
    of.replaceAll(/[^\w]/g, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, '0')}`);
  const bytes = Array.from(Buffer.from(character), (byte) => `%(?:25)?${byte.toString(16).padStart(2, '0')}`);
  const units = character.split('').map((unit) => `\\\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const literal = character < '\x80' ? escape(character) : character;
  return `(?:\\\\?${literal}|${bytes.join('')}|${units.join('')})`;
}

/** Where a secret stands in base64: on its own, or in the middle of more, by which its first and last characters differ. */
function inBase64(value: string): RegExp {
  const core = (before: number): string => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
    const whole = bytes.toString('base64').replace(/=+$/, '');
    return whole.slice(before === 0 ? 0 : before + 1, bytes.length % 3 === 0 ? undefined : -1);
  };
  const cores = [0, 1, 2].map(core).filter((part) => part.length >= shortestPart);
  const either = cores.map((part) => part.replaceAll('+', '[+-]').replaceAll('/', '\\\\?[/_]'));
  return new RegExp(either.length === 0 ? '(?!)' : `(?:${either.join('|')})[\\w+/=-]{0,4}`, 'g');
}

/** Less of a secret may be part of any word. */
const shortestPart = 8;

/** An OAuth token pair. The refresh token works once; `expiresAt` is the expiry of the access token, milliseconds since 1970. */
export interface TokenPair {
  readonly access: Secret;
  readonly refresh: Secret;
  readonly expiresAt: number;
}
