/** What each surface says of an installation beside a sandbox: `status`, `doctor`, and the page, `/api/status` and the metrics of a daemon. */
import { expect, onTestFinished } from 'vitest';
import { nodeFetch } from '../../src/api/http/node-fetch.ts';
import type { Fetch, FetchedAnswer } from '../../src/api/http/request.ts';
import { systemClock, type Clock } from '../../src/domain/clock.ts';
import { ArrivalSignal } from '../../src/domain/concurrency.ts';
import type { World } from '../../src/sandbox/core/worlds.ts';
import { freePort } from './network/free-port.ts';
import { testbed, type Testbed } from './testbed.ts';

/** Answers in place of the service, or passes the request on. */
export type Answer = (url: URL, real: () => Promise<FetchedAnswer>, signal: AbortSignal) => Promise<FetchedAnswer>;

/** Hangs until the program gives up. */
export const silence: Answer = (_url, _real, signal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('given up'))));

/** Waits below this, in milliseconds, are a thousandth of the usual ones: those between attempts, not those for an answer. */
const hurried = (below: number): Clock => ({
  ...systemClock,
  timer: (ms: number, run: () => void) => systemClock.timer(ms < below ? ms / 1_000 : ms, run),
});

export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly what_to_do: string | null;
}

interface Status {
  readonly verdict: { readonly code: string };
  readonly problems: readonly Problem[];
  readonly accounts: readonly { readonly problems: readonly Problem[] }[];
}

export interface Finding {
  readonly check: string;
  readonly result: string;
  readonly message: string;
  readonly remedy: string | null;
}

/** Of the account, then of the installation; that no daemon runs is so in most of these tests. */
function problemsOf({ accounts, problems }: Status): Problem[] {
  return [...accounts.flatMap((account) => account.problems), ...problems].filter(({ code }) => code !== 'no_daemon');
}

/** Without times, counts and which run was the last, which differ from one look to the next. */
function steady(text: string): string {
  return text
    .replaceAll(/The last (pull|reconcile|window)/g, 'The last run')
    .replaceAll(/just now|[\d,.]+ (ms|s|min) ago/g, 'then')
    .replaceAll(/The last( \d+)? requests?|\d+/g, '#')
    .replaceAll('since then', 'then')
    .replace(/ Gave up after .*/, '');
}

const sentences = (problems: readonly Problem[]): string[][] =>
  problems.map(({ code, message, what_to_do }) => [code, steady(message), what_to_do ?? '']);

/** So long what a daemon shows serves for all who ask, in milliseconds; and how often nothing new is looked at again. */
const [shownFor, looks] = [1_000, 10];

export interface Daemon {
  /** The problems that `/api/status`, the page and the metrics show, once they are these. */
  readonly shows: (problems: readonly Problem[]) => Promise<void>;
  /** Looks whenever the daemon has logged something, and while it logs nothing, whenever what it shows may be new. */
  readonly until: (isSo: () => Promise<boolean> | boolean) => Promise<void>;
  readonly end: () => Promise<void>;
}

/** `serve` with the same settings, until the test ends it. */
async function serve(line: Testbed<'command'>, adminPort: number, fetched: Fetch): Promise<Daemon> {
  const { clock } = line;
  const logged = new ArrivalSignal();
  const beside = await testbed({ level: 'command', fetch: fetched, clock, onError: () => logged.notify() });
  let said = '';
  const over = beside.runBare('serve', '--log-level', 'debug', '-c', line.settings).then(({ status, stderr }) => {
    said = `${status}: ${stderr}`;
    logged.notify();
  });
  const until: Daemon['until'] = async (isSo) => {
    let left = looks;
    for (let seen = logged.count; left > 0 && !(await isSo()) && said === ''; seen = logged.count)
      if (!(await logged.waitForMore(seen, shownFor, systemClock, beside.interruption.signal))) left -= 1;
  };
  const end = async (): Promise<void> => {
    beside.interruption.abort();
    await over;
  };
  onTestFinished(end);
  const ask = async (path: string): Promise<string> => (await fetch(`http://127.0.0.1:${adminPort}${path}`)).text();
  const isOpen = (): Promise<boolean> =>
    ask('/healthz').then(
      () => true,
      () => false,
    );
  await until(isOpen);
  if (said !== '') throw new Error(said);
  return {
    end,
    until,
    async shows(problems) {
      const wanted = sentences(problems);
      let found: [problems: string[][], labels: string[]] = [[], []];
      const codes = problems.map(({ code }) => `code="${code}"} 1`).sort();
      await until(async () => {
        const metrics = await ask('/metrics');
        const labels = [...metrics.matchAll(/^vendor_mirror_problem\{account="[^"]*",(.*)$/gm)].map(
          ([, label = '']) => label,
        );
        found = [sentences(problemsOf(JSON.parse(await ask('/api/status')) as Status)), labels.sort()];
        return JSON.stringify(found) === JSON.stringify([wanted, codes]);
      });
      expect(found).toEqual([wanted, codes]);
      const page = (await ask('/'))
        .replaceAll(/<[^>]*>/g, '')
        .replaceAll('&#39;', "'")
        .replaceAll(/\s+/g, ' ');
      for (const { what_to_do } of problems) expect(page).toContain((what_to_do ?? '').replaceAll('`', ''));
    },
  };
}

/** A request to the public address, and what becomes of it on its way to the daemon. */
export type Sent = Parameters<Fetch>[1] & { readonly url: URL };
export type OnTheWay = (sent: Sent) => Sent;

interface Beside {
  readonly world?: Partial<World>;
  /** Whether the service delivers to the daemon. */
  readonly isDelivered?: boolean;
  /** More settings, as YAML. */
  readonly settings?: string;
  /** Waits that are shorter, in milliseconds, are hurried. */
  readonly hurriedBelow?: number;
}

export async function besideService(
  vendors: number,
  { world, isDelivered = false, settings = '', hurriedBelow = 20_000 }: Beside = {},
) {
  const [listenerPort, adminPort] = [await freePort(), await freePort()];
  const publicUrl = `http://127.0.0.1:${listenerPort}`;
  const real = nodeFetch();
  let trouble: Answer | undefined;
  let isShut = false;
  let onTheWay: OnTheWay = (sent) => sent;
  const closed = (): Promise<never> => Promise.reject(Object.assign(new Error('shut'), { code: 'ECONNREFUSED' }));
  const service = await testbed({
    ...{ level: 'sandbox', vendors, deliveries: { delay: [0, 1] }, ...(world && { world }) },
    fetch: (url, request) => toPublicAddress(url, request),
  });
  const toPublicAddress: Fetch = (url, request) => {
    if (isShut) return closed();
    const sent = onTheWay({ ...request, url });
    return real(sent.url, sent);
  };
  const fetched: Fetch = (url, request) => {
    if (isDelivered && url.href.startsWith(publicUrl)) return toPublicAddress(url, request);
    const pass = (): Promise<FetchedAnswer> => real(url, request);
    return url.href.startsWith(service.baseUrl) && trouble ? trouble(url, pass, request.signal) : pass();
  };
  const line = await testbed({
    level: 'command',
    service,
    settings: `accounts: [6BApk]
listener: { host: 127.0.0.1, port: ${listenerPort}${isDelivered ? `, publicUrl: "${publicUrl}"` : ''} }
admin: { port: ${adminPort} }
shutdownTimeout: 30s
${settings}`,
    fetch: fetched,
    // Probes of the public address wait for seconds, not longer.
    clock: isDelivered ? systemClock : hurried(hurriedBelow),
  });
  const status = async (): Promise<Problem[]> =>
    problemsOf(JSON.parse((await line.run('status', '--json')).stdout) as Status);
  const doctor = async (): Promise<Finding[]> => {
    const { checks } = JSON.parse((await line.run('doctor', '--json')).stdout) as { checks: Finding[] };
    return checks.filter(({ result }) => result !== 'ok');
  };
  const told = async (check: string) => {
    const [problem] = await status();
    return { problem, finding: (await doctor()).find((one) => one.check === check) };
  };
  const start = (): Promise<Daemon> => serve(line, adminPort, fetched);
  const saidByDoctorAndDaemon = async (problems: readonly Problem[]): Promise<void> => {
    const found = (await doctor()).map(({ message, remedy }) => [message, remedy]);
    for (const { message, what_to_do } of problems) expect(found).toContainEqual([message, what_to_do]);
    const daemon = await start();
    await daemon.shows(problems);
    await daemon.end();
  };
  /** Whether the service holds a callback that is verified. */
  const isVerified = (): boolean =>
    service.sandbox
      .callbacks(service.account)
      .all()
      .some(({ verified }) => verified);
  expect((await line.run('sync')).status).toBe(0);
  return {
    ...{
      line,
      publicUrl,
      status,
      doctor,
      told,
      saidByDoctorAndDaemon,
      isVerified,
      ofService: service.sandbox.vendors('6BApk'),
      service,
    },
    meets: (answer: Answer | undefined): void => void (trouble = answer),
    /** What becomes of each delivery on its way to the daemon; undefined: nothing. */
    changes: (change: OnTheWay | undefined): void => void (onTheWay = change ?? ((sent) => sent)),
    /** Whether the public address leads nowhere. */
    shut: (is: boolean): void => void (isShut = is),
    serve: start,
  };
}

/** The arguments of the command that asks for a new code, as what to do about a problem names it. */
export const resendIn = ([problem]: readonly Problem[]): string[] =>
  (/`vendor-mirror (callbacks resend[^`]*)`/.exec(problem?.what_to_do ?? '')?.[1] ?? '').split(' ');

/** The arguments of the first command that a remedy names. */
export const commandIn = (remedy: string | null | undefined): string[] =>
  (/`vendor-mirror ([^`]+)`/.exec(remedy ?? '')?.[1] ?? '').split(' ');
