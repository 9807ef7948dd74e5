/** One installation beside one sandbox, without sockets, on a clock that jumps ahead when nothing else is going on. */
import { onTestFinished } from 'vitest';
import { httpDate, sleep } from '../../../src/domain/clock.ts';
import type { Settings } from '../../../src/settings/parse.ts';
import { openInstallation, type Installation, type RunSummary } from '../../../src/app/installation.ts';
import { silentLog } from '../../../src/domain/log.ts';
import { Sandbox, type SandboxOptions } from '../../../src/sandbox/service.ts';
import { oddWorld } from '../odd-world.ts';
import type { PullOptions } from '../../../src/sync/run.ts';
import { directFetch } from '../network/direct-fetch.ts';
import { migrations, namedProcess, temporaryFolder } from '../mirror-file.ts';
import { account, token } from '../names.ts';
import { constantRandom } from '../random.ts';
import { jumpingClock, placed } from './placed.ts';
import { settingsIn, type SettingsOver } from '../settings.ts';
import type { VirtualClock } from '../virtual-clock.ts';

/** A record of the service, as it stands on the wire. */
export type Record_ = Readonly<Record<string, unknown>> & { readonly vendorid: number };

/** Of two processes beside this one, one is dead. */
export const deadProcess = 'one that died';
export const livingProcess = 'another that lives';

export interface AccountTestbed {
  readonly clock: VirtualClock;
  readonly sandbox: Sandbox;
  readonly database: string;
  readonly settings: Settings;
  readonly installation: Installation;
  /** Runs one pull to its end; default: of the first account. */
  pull(options?: Partial<PullOptions> & { of?: string }): Promise<RunSummary>;
  /** Asks the mirror file. */
  query<Row = Record<string, unknown>>(sql: string, ...values: unknown[]): Row[];
  /** Writes into the mirror as another program does. */
  write(sql: string): void;
  /** Closes the installation and opens it again, optionally with other settings over its own from then on. */
  reopen(over?: Partial<Settings>): Promise<void>;
  /** Ends it all before the test does. */
  close(): Promise<void>;
}

export interface AccountOptions extends Partial<Omit<SandboxOptions, 'accounts' | 'world'>> {
  /** `key=value`, as in `sandbox --world`. */
  readonly world?: readonly string[];
  /** Laid over the defaults. */
  readonly settings?: SettingsOver;
  /** The accounts, which start with as many vendors each; default: one. */
  readonly accounts?: readonly string[];
  /** Changes what the service says on its way here: the text of every answer. */
  readonly rewrite?: (text: string, url: URL) => string;
  /** Answers instead of the service, where it returns something. */
  readonly answer?: (url: URL) => Response | undefined | Promise<Response | undefined>;
  /** How far the clock of the service is from ours, in milliseconds; null where it tells no time. */
  readonly skew?: () => number | null;
  /** Milliseconds that each request takes. */
  readonly latency?: number;
  /** Called before each request to the service. */
  readonly onRequest?: (at: { sandbox: Sandbox; clock: VirtualClock }) => void;
}

/** A fetch whose answers take their time, come from somebody else, or are changed on their way. */
function bent(
  fetch: typeof globalThis.fetch,
  { rewrite, answer: instead, skew, latency = 0 }: AccountOptions,
  clock: VirtualClock,
): typeof fetch {
  return async (input, init) => {
    if (latency > 0) await sleep(clock, latency);
    const url = new URL(input instanceof Request ? input.url : input);
    const answer = (await instead?.(url)) ?? (await fetch(input, init));
    if (skew) tellTime(answer.headers, clock.now(), skew());
    if (!rewrite) return answer;
    return new Response(rewrite(await answer.text(), url), { status: answer.status, headers: answer.headers });
  };
}

function tellTime(headers: Headers, now: number, skew: number | null): void {
  if (skew === null) headers.delete('date');
  else headers.set('date', httpDate(now + skew));
}

export async function openAccount(options: AccountOptions): Promise<AccountTestbed> {
  const { accounts = [account] } = options;
  const clock = jumpingClock();
  const folder = temporaryFolder();
  const sandbox = new Sandbox(
    {
      vendors: 40,
      rateLimits: null,
      token,
      ...options,
      accounts,
      world: oddWorld(...(options.world ?? [])),
    },
    { clock, post: () => Promise.resolve({ status: 200 }) },
  );
  if (options.onRequest) {
    const { onRequest } = options;
    sandbox.onRequest(() => onRequest({ sandbox, clock }));
  }
  const asked = settingsIn(folder, {
    accounts,
    ...options.settings,
    service: {
      rateLimit: { all: '1000000/1s', post: '1000000/1s', callbacks: '1000000/1s' },
      ...(options.settings?.['service'] as object | undefined),
    },
  });
  const { settings, query, write } = await placed(asked, clock);
  let now = settings;
  const open = (): Promise<Installation> =>
    openInstallation(now, {
      clock,
      random: constantRandom(),
      fetch: bent(directFetch(sandbox), options, clock),
      log: silentLog,
      lockProcess: namedProcess('this process', (name) => name !== deadProcess),
      migrations,
    });
  let installation = await open();
  const close = async (): Promise<void> => {
    sandbox.stop();
    await installation.close();
  };
  onTestFinished(close);
  return {
    clock,
    sandbox,
    database: settings.database,
    settings,
    get installation() {
      return installation;
    },
    pull: ({ of = account, ...more } = {}) =>
      installation.pull(of, { kind: 'pull', trigger: 'command', signal: new AbortController().signal, ...more }),
    query,
    write,
    async reopen(over = {}) {
      await installation.close();
      now = { ...now, ...over };
      installation = await open();
    },
    close,
  };
}
