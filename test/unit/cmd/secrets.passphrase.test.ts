import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { knownPassphrase, newPassphrase } from '../../../src/cmd/secrets.ts';
import type { ProcessContext } from '../../../src/cmd/process/process-context.ts';

/** Somebody who answers each question with the next line. */
function person(...lines: string[]): { context: ProcessContext; shown: () => string } {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  let shown = '';
  const stderr = new Writable({
    write(chunk: Buffer, _encoding, done) {
      shown += chunk.toString();
      if (chunk.toString().includes(':')) setImmediate(() => stdin.write(`${lines.shift() ?? ''}\r`));
      done();
    },
  });
  const context = { stdin, stderr: Object.assign(stderr, { isTTY: true }), interrupted: new AbortController().signal };
  return { context: context as unknown as ProcessContext, shown: () => shown };
}

describe('a passphrase', () => {
  it('is typed hidden, and twice if it is new', async () => {
    const { context, shown } = person('correct horse battery', 'correct horse battery');
    expect((await newPassphrase(context, {})).reveal()).toBe('correct horse battery');
    expect(shown()).toBe('Passphrase: \nRepeat the passphrase: \n');
    const once = person('short');
    expect((await knownPassphrase(once.context, {})).reveal()).toBe('short');
  });

  it('that is new is refused if the two differ or it is too short, and an empty one always', async () => {
    const refusal = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);
    const differing = person('correct horse battery', 'correct horse battery.');
    expect(await refusal(newPassphrase(differing.context, {}))).toMatchObject({
      code: 'usage',
      message: 'The two passphrases differ.',
    });
    expect(await refusal(newPassphrase(person('horse').context, {}))).toMatchObject({
      message:
        'The passphrase must have at least 12 characters, six of them different, without repetitions and sequences; blanks do not count.',
    });
    expect(await refusal(knownPassphrase(person('').context, {}))).toMatchObject({
      message: 'The passphrase is empty.',
    });
  });
});

describe('L58 a new passphrase', () => {
  it.each([
    ' '.repeat(40),
    '\u00a0\u2003\u3000\u2800'.repeat(9),
    'aaaaaaaaaaaaaaaaaaaa',
    'short       word    ',
    '123456789012',
    'secret secret secret',
  ])('of %j is refused, because it is soon guessed', async (passphrase) => {
    const refused = newPassphrase(person(passphrase, passphrase).context, {}).catch((error: unknown) => error);
    expect(await refused).toMatchObject({
      code: 'usage',
      message: expect.stringContaining('blanks do not count') as string,
    });
  });

  it('that an earlier version took still opens its backup', async () => {
    expect((await knownPassphrase(person(' '.repeat(40)).context, {})).reveal()).toBe(' '.repeat(40));
  });
});
