import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { prompt, readInput } from '../../../../src/cmd/terminal/prompt.ts';
import { MirrorError } from '../../../../src/domain/errors.ts';
import { collector } from '../../../support/testbed/command.ts';

function terminal() {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const { stream: stderr, text } = collector(80);
  const interruption = new AbortController();
  return { context: { stdin, stderr, interrupted: interruption.signal }, stdin, text, interruption };
}

describe('asking', () => {
  it('returns the line that was typed, and leaves the rest of the input', async () => {
    const { context, stdin, text } = terminal();
    const answered = prompt(context, 'Your name?', { hidden: false });
    stdin.write('Ada\n');
    expect(await answered).toBe('Ada');
    expect(text()).toBe('Your name? ');
  });

  it('does not show hidden input', async () => {
    const { context, stdin, text } = terminal();
    const answered = prompt(context, 'Code?', { hidden: true });
    for (const key of ['s', 'e', 'x', '\u007f', 'cret', '\r']) stdin.write(key);
    expect(await answered).toBe('secret');
    expect(text()).toBe('Code? \n');
  });

  it('P8 hides input before it asks for it', async () => {
    const { context, stdin, text } = terminal();
    const shown: string[] = [];
    const setRawMode = (): void => void shown.push(text());
    const answered = prompt({ ...context, stdin: Object.assign(stdin, { setRawMode }) }, 'Code?', { hidden: true });
    stdin.write('secret\r');
    await answered;
    expect(shown[0]).toBe('');
  });

  it.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('treats %s at a hidden prompt as the end of input', async (_, key) => {
    const { context, stdin } = terminal();
    const answered = prompt(context, 'Code?', { hidden: true });
    stdin.write(key);
    await expect(answered).rejects.toMatchObject({ code: 'interrupted' });
  });

  it('J1 ends when the command is interrupted', async () => {
    const { context, interruption } = terminal();
    const answered = prompt(context, 'Really?', { hidden: false });
    interruption.abort(new MirrorError('interrupted', 'Interrupted by SIGINT.'));
    await expect(answered).rejects.toMatchObject({ code: 'interrupted' });
  });
});

describe('reading input', () => {
  it('returns all of it', async () => {
    const { context, stdin } = terminal();
    stdin.end('one\ntwo');
    expect(await readInput(context)).toBe('one\ntwo');
  });

  it('J1 ends when the command is interrupted', async () => {
    const { context, stdin, interruption } = terminal();
    stdin.write('half');
    const reading = readInput(context);
    interruption.abort(new MirrorError('interrupted', 'Interrupted by SIGINT.'));
    await expect(reading).rejects.toMatchObject({ code: 'interrupted' });
  });
});
