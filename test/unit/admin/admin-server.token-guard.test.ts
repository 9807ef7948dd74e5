import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TokenGuard } from '../../../src/admin/admin-server.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { startAdmin } from '../../support/admin/admin-requests.ts';
import { isMissing } from '../../support/needed.ts';
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

  const otherThanLinux = process.platform === 'linux' ? undefined : 'only Linux has all of 127.0.0.0/8';
  it.skipIf(isMissing(otherThanLinux))('of more connections than there may be keeps nobody else out', async () => {
    const { ask, url } = await startAdmin({ token: new Secret(token) }, undefined, virtualClock());
    const port = Number(new URL(url).port);
    const guessFrom = async (localAddress: string): Promise<void> => {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      onTestFinished(() => void socket.destroy());
      socket.on('error', () => undefined).resume();
      await once(socket, 'connect');
      socket.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${guess(1)}\r\n\r\n`);
      // Until the server, in this process, has read it.
      for (let turn = 0; turn < 5; turn += 1) await setImmediate();
    };
    for (let nth = 0; nth < 330; nth += 1) {
      await guessFrom(`127.0.0.${2 + (nth % 20)}`);
      if (nth > 300) expect((await ask('/readyz', { authorization: `Bearer ${token}` })).status).toBe(200);
    }
  });
});
