import { describe, expect, it } from 'vitest';
import { logOf } from '../../../src/cmd/with-installation.ts';
import type { ProcessContext } from '../../../src/cmd/process/process-context.ts';
import { asMirrorError, MirrorError } from '../../../src/domain/errors.ts';
import { createLog } from '../../../src/domain/log.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { collector } from '../../support/testbed/command.ts';

const canary = 'canary-8c1f';

async function logged(write: (log: Awaited<ReturnType<typeof logOf>>) => void, env = {}, columns?: number) {
  const { stream, text } = collector(columns);
  const context = { stderr: stream, env } as unknown as ProcessContext;
  write(await logOf({ context, options: {}, args: [] }, 'info'));
  return text();
}

describe('the log', () => {
  it('is JSON lines without a terminal', async () => {
    const line = await logged((log) => log.info({ account: '6BApk' }, 'complete'));
    expect(JSON.parse(line)).toMatchObject({ level: 30, account: '6BApk', msg: 'complete' });
    expect(line).toMatch(/\n$/);
  });

  it('is readable on a terminal, in colours unless NO_COLOR says otherwise', async () => {
    const write = (log: Awaited<ReturnType<typeof logOf>>): void => log.info({ account: '6BApk' }, 'complete');
    const plain = await logged(write, { NO_COLOR: '1' }, 80);
    expect(plain).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: complete {"account":"6BApk"}\n$/);
    expect(await logged(write, {}, 80)).toContain('\u001b[32mINFO');
  });

  it('K23 repeats the option that names the settings in every command that it names', async () => {
    for (const columns of [undefined, 80]) {
      const { stream, text } = collector(columns);
      const context = {
        stderr: stream,
        env: { NO_COLOR: '1' },
        settingsOption: `-c 'a "b".yaml'`,
      } as unknown as ProcessContext;
      const log = await logOf({ context, options: {}, args: [] }, 'info');
      log.warn({ code: 'x' }, 'Incomplete: run `vendor-mirror sync` again.');
      const told = columns === undefined ? (JSON.parse(text()) as { msg: string }).msg : text();
      expect(told).toContain(`run \`vendor-mirror sync -c 'a "b".yaml'\` again.`);
    }
  });

  it('H10 text from outside cannot control the terminal', async () => {
    const shown = await logged(
      (log) => log.info({ name: '\u001b[31mred' }, 'from \u009b31m\ra stranger'),
      { NO_COLOR: '1' },
      80,
    );
    expect(shown).toContain('from \\u009b31m␍a stranger');
    expect(shown.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });

  it('has nothing below the requested level', async () => {
    const { stream, text } = collector();
    const context = { stderr: stream, env: {} } as unknown as ProcessContext;
    const log = await logOf({ context, options: { logLevel: 'error' }, args: [] }, 'info');
    log.warn('heard?');
    expect(text()).toBe('');
  });

  it.each([
    ['an error with a request in its cause', { err: asMirrorError(faultWithToken()) }],
    ['a foreign error', { err: faultWithToken() }],
    ['a message that repeats the header', { err: new Error(`invalid header Bearer ${canary}`) }],
    ['a thrown text', { err: canary }],
    ['a secret', { token: new Secret(canary), nested: { verifier: canary }, authorization: `Bearer ${canary}` }],
  ])('H10 F18 no token reaches it: %s', (_, entry) => {
    const { stream, text } = collector();
    createLog('trace', stream).error(entry, 'failed');
    expect(text()).toContain('failed');
    expect(text()).not.toContain(canary);
  });

  it('names the causes of an error, and shows where it arose', () => {
    const { stream, text } = collector();
    createLog('info', stream).error(
      { err: new MirrorError('bug', 'It broke.', { cause: faultWithToken() }) },
      'failed',
    );
    const { err } = JSON.parse(text()) as { err: { stack: string } };
    expect(err).toMatchObject({
      type: 'MirrorError',
      code: 'bug',
      message: 'It broke.',
      caused_by: ['TypeError E_CODE', 'Error'],
    });
    expect(err.stack).toMatch(/^ {4}at .*log\.test\.ts/);
  });

  it.each(['usage', 'settings_invalid'] as const)(
    'shows no place in the program where the fault is a person’s: %s',
    (code) => {
      const { stream, text } = collector();
      createLog('info', stream).fatal({ err: new MirrorError(code, 'No such option.') }, 'ended by an error');
      expect(JSON.parse(text())).toMatchObject({ err: { type: 'MirrorError', code, message: 'No such option.' } });
      expect(text()).not.toContain('stack');
    },
  );

  it('survives a cycle of causes', () => {
    const { stream, text } = collector();
    const [first, second] = [new Error('first'), new Error('second')];
    first.cause = second;
    second.cause = first;
    createLog('info', stream).error({ err: first }, 'failed');
    expect(text()).toContain('"message":"first"');
  });
});

/** An error as libraries throw them, with the request hanging on it. */
function faultWithToken(): Error {
  const cause = new Error(`sent Bearer ${canary}`);
  return Object.assign(new TypeError('fetch failed', { cause }), {
    code: 'E_CODE',
    request: { headers: { Authorization: `Bearer ${canary}`, cookie: canary } },
  });
}
