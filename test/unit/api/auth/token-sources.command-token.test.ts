import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CommandToken, type TokenCommand } from '../../../../src/api/auth/token-sources.ts';
import { systemClock } from '../../../../src/domain/clock.ts';
import { Secret } from '../../../../src/domain/secret.ts';
import { failureOf } from '../../../support/failure.ts';
import { temporaryFolder } from '../../../support/mirror-file.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const source = (command: TokenCommand, clock = systemClock): CommandToken =>
  new CommandToken(command, { clock, timeout: 10_000 });

/** A command that counts its runs, and prints its words with the number. */
function counting(words: string): { readonly command: string; readonly runs: () => number } {
  const file = join(temporaryFolder(), 'runs');
  return {
    command: `echo >> '${file}'; n=$(wc -l < '${file}'); printf '%s' '${words}' | sed "s/N/$n/"`,
    runs: () => readFileSync(file, 'utf8').length,
  };
}

it('a text is run by the shell and a list without one; the printed line is the token', async () => {
  expect((await source('echo one-$(echo two)').current()).reveal()).toBe('one-two');
  expect((await source(['echo', '$(two)']).current()).reveal()).toBe('$(two)');
});

it('a command runs once for all concurrent callers, and again after a 401', async () => {
  const { command, runs } = counting('token-N');
  const tokens = source(command);
  const all = await Promise.all([tokens.current(), tokens.current(), tokens.current()]);
  expect([all.map((token) => token.reveal()), runs()]).toEqual([['token-1', 'token-1', 'token-1'], 1]);
  const renewed = await Promise.all([tokens.renew(all[0]), tokens.renew(all[1])]);
  expect([renewed.map((token) => token?.reveal()), runs()]).toEqual([['token-2', 'token-2'], 2]);
  expect((await tokens.renew(new Secret('token-1')))?.reveal()).toBe('token-2');
  expect(runs()).toBe(2);
});

it('a command that prints the rejected token again has no other token', async () => {
  const tokens = source('echo same');
  expect(await tokens.renew(await tokens.current())).toBeUndefined();
});

it('a command that reports the lifetime of its token runs again before the token expires', async () => {
  const { command, runs } = counting('{"access_token": "token-N", "expires_in": 3600}');
  const clock = virtualClock();
  const tokens = new CommandToken(command, { clock, timeout: 1_000_000 });
  await tokens.current();
  await clock.advance(3_539_000);
  expect([(await tokens.current()).reveal(), runs()]).toEqual(['token-1', 1]);
  await clock.advance(2_000);
  expect([(await tokens.current()).reveal(), runs()]).toEqual(['token-2', 2]);
});

it.each<[string, TokenCommand, string]>([
  ['fails', 'echo hush; echo hush >&2; exit 3', 'ended with status 3'],
  ['is not there', ['/no/such/hush'], 'could not be run (ENOENT)'],
  ['prints nothing', 'true', 'contains no usable access token'],
  ['prints two lines', 'echo hush; echo hush', 'contains no usable access token'],
  ['prints JSON without a token', `echo '{"hush": "hush"}'`, 'contains no usable access token'],
  ['prints half of a JSON', `echo '{"access_token": "hush'`, 'is not JSON'],
  ['prints without end', 'yes hush', 'printed more than 65536 bytes'],
  ['hangs', 'echo hush; sleep 1000 & wait', 'did not end within 10 s'],
])('a command that %s is an error that shows nothing of what it printed', async (_, command, message) => {
  // Its clock goes on only where nothing else does.
  const clock = message.includes('within') ? virtualClock({ auto: true }) : systemClock;
  const error = await failureOf(source(command, clock).current());
  expect(error).toMatchObject({ code: 'token_unusable', message: expect.stringContaining(message) as string });
  expect(JSON.stringify(error) + error.message + String(error.cause)).not.toContain('hush');
});
