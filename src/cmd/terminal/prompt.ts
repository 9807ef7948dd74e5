/** Input of a running command: on standard input, never in its arguments. */
import { createInterface } from 'node:readline';
import { addAbortSignal, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { MirrorError } from '../../domain/errors.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { visible } from './text.ts';

/** Where somebody is asked, and what ends the question. */
export type PromptContext = Pick<ProcessContext, 'stdin' | 'stderr' | 'interrupted'>;

export function isInteractive({ stdin, stderr }: PromptContext): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** All of standard input. @throws MirrorError `interrupted`, or `usage` where it is not UTF-8. */
export async function readInput({ stdin, interrupted }: PromptContext): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await buffer(addAbortSignal(interrupted, stdin));
  } catch (error) {
    throw interrupted.aborted ? interrupted.reason : error;
  }
  return textOf(bytes, 'Standard input');
}

/**
 * One line from the person at the terminal; what they type is not shown where it is `hidden`.
 * @throws MirrorError `interrupted` where they would not answer (Ctrl-C, Ctrl-D).
 */
export async function prompt(
  context: PromptContext,
  question: string,
  { hidden }: { hidden: boolean },
): Promise<string> {
  const { stdin, stderr, interrupted } = context;
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  // Before the question is shown, so that an answer is hidden however early it comes.
  const lines = createInterface({
    input: stdin,
    output: hidden ? nowhere : stderr,
    terminal: hidden,
    signal: interrupted,
  });
  stderr.write(`${visible(question)} `);
  try {
    return await new Promise((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('close', () => reject(new MirrorError('interrupted', 'There was no answer, so nothing was done.')));
    });
  } finally {
    lines.close();
    if (hidden) stderr.write('\n');
  }
}

/**
 * Whether a person has confirmed what cannot be undone: by `--yes`, or when asked.
 * @throws MirrorError `usage` if there is no terminal.
 */
export async function isConfirmed(
  context: PromptContext,
  question: string | (() => Promise<string>),
  yes: boolean | undefined,
): Promise<boolean> {
  if (yes) return true;
  if (!isInteractive(context))
    throw new MirrorError('usage', 'This needs a confirmation, and there is no terminal to ask on: use --yes.');
  const asked = typeof question === 'string' ? question : await question();
  return /^y(es)?$/i.test((await prompt(context, `${asked} [y/N]`, { hidden: false })).trim());
}

/**
 * The text of bytes, without a byte order mark.
 * @throws MirrorError `usage` if they are not UTF-8: replacement characters would be stored as if they were the text.
 */
export function textOf(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new MirrorError(
      'usage',
      `${name} is not UTF-8 text; convert it first, such as by \`iconv -f latin1 -t utf-8\`.`,
    );
  }
}

/** The system hands over arguments as text already: bytes that were not UTF-8 are U+FFFD by then. */
export function isDamaged(argument: string): boolean {
  return argument.includes('\ufffd') || !argument.isWellFormed();
}
