/** Processes of one mirror that need more than the whole rate of their connection, together or one of them alone. */
import { setMaxListeners } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { fixedToken } from '../../../src/api/auth/token-sources.ts';
import { caller } from '../../../src/api/caller.ts';
import { ConnectionRate, type Priority } from '../../../src/api/http/rate-limiter.ts';
import { systemRandom } from '../../../src/domain/clock.ts';
import { silentLog, type Log } from '../../../src/domain/log.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { openMirror } from '../../../src/store/mirror.ts';
import { migrations, namedProcess, newPath } from '../../support/mirror-file.ts';
import { account } from '../../support/names.ts';
import { defaultSettings } from '../../support/settings.ts';
import { virtualClock, type VirtualClock } from '../../support/virtual-clock.ts';

const [requests, per] = [20, 60_000];
const rate = { requests, per };
/** How long the service takes to answer, in milliseconds. */
const latency = 200;

/** A process that asks for one vendor after the other. */
async function processOf(path: string, clock: VirtualClock, name: string, isCommand = false) {
  const lockProcess = namedProcess(name, () => true);
  const mirror = await clock.during(openMirror({ path, migrations, clock, random: systemRandom, lockProcess }));
  onTestFinished(() => clock.during(mirror.close()));
  const limits = new ConnectionRate('default', { all: rate, post: rate, callbacks: rate }, clock, { isCommand });
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  const sent: { at: number; priority: Priority }[] = [];
  const told: { at: number; message: string }[] = [];
  const call = caller(
    account,
    { ...defaultSettings.service, lag: 0, baseUrl: 'https://service.example' },
    {
      clock,
      random: systemRandom,
      log: Object.assign(Object.create(silentLog) as Log, {
        warn: (_facts: object, message: string) => void told.push({ at: clock.monotonic(), message }),
      }),
      fetch: () => new Promise((resolve) => clock.timer(latency, () => resolve(Response.json({})))),
      reserveRequest: mirror.reserveRequest,
      tokens: fixedToken(new Secret('token')),
      rate: () => limits,
    },
  );
  const ask = (priority: Priority): Promise<void> =>
    call(
      {
        ...{ family: 'vendors', method: 'GET', path: '/1', priority, signal: stopping.signal },
        onStamp: () => sent.push({ at: clock.monotonic(), priority }),
      },
      () => undefined,
    );
  /** So many requests at a time, for ever. */
  const needs = (priority: Priority, atOnce: number): void => {
    const loop = async (): Promise<void> => {
      while (!stopping.signal.aborted) await ask(priority);
    };
    for (let nth = 0; nth < atOnce; nth += 1) void loop().catch(() => undefined);
  };
  onTestFinished(() => stopping.abort(new Error('The test has ended.')));
  const of = (priority: Priority): number[] => sent.filter((one) => one.priority === priority).map(({ at }) => at);
  return { ask, needs, sent, told, of };
}

/** Everything that was sent, in order of time, never came sooner than the rate allows. */
function expectWithinRate(...processes: readonly { readonly sent: readonly { readonly at: number }[] }[]): void {
  const all = processes.flatMap(({ sent }) => sent.map(({ at }) => at)).sort((a, b) => a - b);
  for (const [index, at] of all.entries()) expect((all[index + requests] ?? Infinity) - at).toBeGreaterThanOrEqual(per);
}

it('L110 a command beside a daemon whose deliveries need more than the whole rate has a tenth of it, and says that it waits', async () => {
  const [path, clock] = [newPath(), virtualClock()];
  const daemon = await processOf(path, clock, 'daemon');
  daemon.needs('prompt', 30);
  await clock.advance(1_000);
  const command = await processOf(path, clock, 'command', true);
  command.needs('background', 4);
  await clock.advance(10 * per);
  expect(command.sent.length).toBeGreaterThanOrEqual(2 * 9);
  expect(daemon.sent.length).toBeGreaterThanOrEqual((requests - 4) * 10);
  expect(command.told[0]!.at).toBeLessThan(10_000);
  expect(command.told[0]!.message).toContain('other processes of this mirror');
  // Said once a minute.
  expect(command.told.length).toBeLessThanOrEqual(11);
  expect(daemon.told).toEqual([]);
  expectWithinRate(daemon, command);
});

it('L110 a sweep of a daemon whose deliveries need more than the whole rate goes on', async () => {
  const clock = virtualClock();
  const daemon = await processOf(newPath(), clock, 'daemon');
  daemon.needs('prompt', 30);
  await clock.advance(1_000);
  daemon.needs('background', 4);
  await clock.advance(10 * per);
  expect(daemon.of('background').length).toBeGreaterThanOrEqual(2 * 6);
  expect(daemon.of('background').length).toBeLessThanOrEqual(2 * 10);
  expectWithinRate(daemon);
});

it('L110 who needs one request after the other beside a process that needs more than the whole rate waits for the next free place', async () => {
  const [path, clock] = [newPath(), virtualClock()];
  const [one, other] = [await processOf(path, clock, 'one'), await processOf(path, clock, 'other')];
  one.needs('prompt', 30);
  await clock.advance(1_000);
  other.needs('prompt', 1);
  await clock.advance(10 * per);
  expect(other.sent.length).toBeGreaterThanOrEqual(9);
  expect(one.sent.length).toBeGreaterThanOrEqual((requests - 3) * 9);
  expectWithinRate(one, other);
});

it('K13 a sweep leaves the tenth to a delivery that comes after it, in whichever process', async () => {
  const [path, clock] = [newPath(), virtualClock()];
  const command = await processOf(path, clock, 'command', true);
  const daemon = await processOf(path, clock, 'daemon');
  command.needs('background', 4);
  await clock.advance(10_000);
  daemon.needs('background', 4);
  await clock.advance(10_000);
  const before = clock.monotonic();
  for (let nth = 0; nth < 2; nth += 1) daemon.ask('prompt').catch(() => undefined);
  await clock.advance(100);
  expect(daemon.of('prompt')).toEqual([before, before]);
  expectWithinRate(command, daemon);
});
