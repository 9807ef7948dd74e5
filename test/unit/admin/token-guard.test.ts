import { describe, expect, it } from 'vitest';
import { TokenGuard } from '../../../src/admin/token-guard.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { startAdmin } from '../../support/admin/admin-requests.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const token = 'a-long-and-random-one';

function guard() {
  const clock = virtualClock();
  const [reports, answers]: [number[], { of: string; at: number; may: boolean }[]] = [[], []];
  let wrong = 0;
  const tokens = new TokenGuard({
    token: new Secret(token),
    clock,
    onWrongToken: () => (wrong += 1),
    onGuesses: (count) => reports.push(count),
  });
  const begun = clock.monotonic();
  const ask = async (authorization?: string, signal = new AbortController().signal): Promise<void> => {
    const may = await tokens.admits({ headers: authorization === undefined ? {} : { authorization }, signal });
    answers.push({ of: authorization ?? 'nothing', at: (clock.monotonic() - begun) / 1_000, may });
  };
  return { clock, ask, answers, reports, tokens, wrong: () => wrong };
}

const guess = (count: number): string => `Bearer guess-${count}`;

describe('L58 a wrong token', () => {
  it('is answered after a second, each further one a second later, at most ten; a right one at once', async () => {
    const { clock, ask, answers } = guard();
    const asked = Array.from({ length: 12 }, (_, count) => ask(guess(count)));
    await ask(`Bearer ${token}`);
    await ask(`Basic ${Buffer.from(`me:${token}`).toString('base64')}`);
    expect(answers.map(({ at, may }) => [at, may])).toEqual([
      [0, true],
      [0, true],
    ]);
    await clock.pass(20_000);
    await Promise.all(asked);
    expect(answers.slice(2).map(({ at, may }) => [at, may])).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10].map((at) => [at, false]),
    );
    const last = ask(guess(13));
    await clock.pass(1_000);
    await last;
    expect(answers.at(-1)).toMatchObject({ at: 21, may: false });
  });

  it('is counted, and reported at once, then once an hour with how many came since', async () => {
    const { clock, ask, reports, wrong } = guard();
    for (const step of [1, 2, 3]) {
      const asked = Array.from({ length: 50 }, (_, count) => ask(guess(count)));
      await clock.pass(11_000);
      await Promise.all(asked);
      expect(wrong()).toBe(50 * step);
    }
    expect(reports).toEqual([1]);
    await clock.pass(3_600_000);
    const late = ask(guess(0));
    await clock.pass(1_000);
    await late;
    expect(reports).toEqual([1, 150]);
  });

  it('is none where nothing was sent: a browser asks so before it knows', async () => {
    const { ask, answers, wrong } = guard();
    for (const nothing of [undefined, '', 'Bearer', `Digest ${token}`]) await ask(nothing);
    expect(answers.map(({ at, may }) => [at, may])).toEqual(Array.from({ length: 4 }, () => [0, false]));
    expect(wrong()).toBe(0);
  });

  it('holds up neither a stop nor who left', async () => {
    const { ask, answers, tokens } = guard();
    const left = new AbortController();
    const [first, second] = [ask(guess(1), left.signal), ask(guess(2))];
    left.abort();
    await first;
    tokens.stop();
    await second;
    expect(answers.map(({ at, may }) => [at, may])).toEqual([
      [0, false],
      [0, false],
    ]);
  });

  it('counts in the metrics of the server, which answers the right one meanwhile', async () => {
    const clock = virtualClock();
    const { ask, stop } = await startAdmin({ token: new Secret(token) }, undefined, clock);
    const guessed = [ask('/', { authorization: guess(1) }), ask('/api/status', { authorization: guess(2) })];
    const scrape = async (): Promise<string> => (await ask('/metrics', { authorization: `Bearer ${token}` })).body;
    while (!(await scrape()).includes('vendor_mirror_admin_wrong_tokens_total 2\n')) await clock.pass(1_000);
    await clock.pass(2_000);
    for (const { status } of await Promise.all(guessed)) expect(status).toBe(401);
    await stop();
  });
});
