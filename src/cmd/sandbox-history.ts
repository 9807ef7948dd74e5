/**
 * The history with which a sandbox and its mirror begin, so that a person who tries the program finds changes, balances and deliveries of some
 * weeks. The sandbox lives through these weeks on a clock of the past, and the mirror learns of it as it does later: events are journalled as
 * deliveries, their vendors read by id, balances read from the list once a day. It records no run, because none took place, so
 * freshness begins with the first real sweep.
 *
 * Both are written beside their places and moved there when they are complete, the sandbox's world first: a process that is killed leaves
 * nothing, or a world that the next sync mirrors as any other.
 *
 * Mirror time goes on without a jump, because the clock of the past ends at the machine's monotonic time; where the machine has not run for
 * so long, it is as if it was restarted. It takes about a second of processor time, and commits in the folder need not wait for the disk:
 * both files are synced before they are moved.
 */
import { lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openInstallation, type Installation, type ServedAccount } from '../app/installation.ts';
import { assertDelay, dateOf, type Clock } from '../domain/clock.ts';
import { errorSentence, MirrorError } from '../domain/errors.ts';
import { createLog } from '../domain/log.ts';
import { Secret } from '../domain/secret.ts';
import type { Source } from '../domain/reading.ts';
import { defaultRetryLimits } from '../domain/retry.ts';
import type { AccountEvent } from '../sandbox/account/account.ts';
import { changeSomething } from '../sandbox/account/churn.ts';
import { seededRandom, seedOf, type SeededRandom } from '../sandbox/core/random.ts';
import { Sandbox } from '../sandbox/service.ts';
import type { VendorService } from '../sandbox/vendors/vendor-service.ts';
import { openWorldFile } from '../sandbox/world-file.ts';
import { defaultConnection, type Settings } from '../settings/parse.ts';
import { sandboxName } from '../store/files/identity.ts';
import { lockProcess } from '../store/files/locks.ts';
import { syncInBackground } from '../store/files/replace-file.ts';
import { processMark } from '../sync/attempt.ts';
import type { ProcessContext } from './process/process-context.ts';

interface Draft {
  readonly database: string;
  readonly secrets: string;
  readonly world: string;
}

interface Parts {
  readonly settings: Settings;
  readonly options: NonNullable<Settings['sandbox']>;
  readonly context: ProcessContext;
}

const [dayMs, hourMs] = [86_400_000, 3_600_000];
/** Changes on a day of the week, and on one of the weekend. */
const [busy, calm] = [45, 6];
/** How long after a change its delivery comes, in milliseconds. */
const deliveredAfter = 1_200;
/** Nothing leaves the process. */
const baseUrl = 'http://sandbox.invalid';

/**
 * Writes the mirror and the world, unless there is one of them. The caller holds the world's lock. Leaves nothing where it fails.
 * @returns whether it wrote them.
 * @throws MirrorError of files; the reason of `context.interrupted` when it is aborted.
 */
export async function writeHistory(parts: Parts, world: string): Promise<boolean> {
  const { database } = parts.settings;
  if (isThere(database) || isThere(world)) return false;
  const folder = `${database}.history`;
  try {
    // One that was killed left it behind.
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { mode: 0o700 });
    const draft = {
      database: join(folder, 'mirror.db'),
      secrets: join(folder, 'secrets.db'),
      world: join(folder, 'world'),
    };
    await live(parts, draft);
    await syncInBackground(draft.database);
    renameSync(draft.world, world);
    if (!isThere(database)) renameSync(draft.database, database);
    await syncInBackground(dirname(database));
    return true;
  } catch (error) {
    parts.context.interrupted.throwIfAborted();
    if (error instanceof MirrorError) throw error;
    throw new MirrorError('file_unwritable', `${folder} cannot be written: ${errorSentence(error)}`, {
      cause: error,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Also a link that leads nowhere. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Lets the weeks pass. */
async function live({ settings, options, context }: Parts, draft: Draft): Promise<void> {
  const { vendors, seed, records, history } = options;
  const clock = new PastClock(context.clock, history * dayMs);
  const memory = openWorldFile(draft.world, String(seed), records);
  const sandbox = new Sandbox(
    { accounts: settings.accounts, token: memory.token, vendors, rateLimits: null, memory },
    { clock, post: () => Promise.reject(new Error('There is no callback yet.')) },
  );
  try {
    const installation = await openInstallation(draftSettings(settings, draft, memory.token), {
      clock,
      random: context.random,
      fetch: fetchFrom(sandbox),
      log: createLog('fatal', { write: () => undefined }),
      lockProcess,
      migrations: join(context.packageRoot, 'migrations'),
      serviceName: sandboxName(memory.id),
      isDraft: true,
      retryLimits: { ...defaultRetryLimits, attempts: 1 },
    });
    try {
      await liveThrough(installation, sandbox, clock, { seed, days: history, signal: context.interrupted });
    } finally {
      await installation.close();
    }
  } finally {
    sandbox.stop();
    memory.close();
  }
}

/** A rate that nothing reaches: while time stands still, nobody could wait for a place in it. */
const unlimited = { requests: 1_000_000, per: 1 };

function draftSettings(settings: Settings, { database, secrets }: Draft, token: string): Settings {
  const rateLimit = { all: unlimited, post: unlimited, callbacks: unlimited };
  const service = { ...settings.service, baseUrl, rateLimit };
  const connections = new Map([[defaultConnection, { accessToken: new Secret(token) }]]);
  return { ...settings, database, secrets, service, connections };
}

/** Requests reach the sandbox without a socket. */
function fetchFrom(sandbox: Sandbox): ProcessContext['fetch'] {
  return async ({ pathname, searchParams }, { method, headers, body = '' }) => {
    const answer = await sandbox.handle({
      ...{ method, path: pathname, query: searchParams, body: Buffer.from(body) },
      headers: Object.fromEntries(new Headers(headers)),
    });
    return {
      status: answer.status,
      headers: new Headers(answer.headers),
      body: (async function* () {
        yield Promise.resolve(answer.body);
      })(),
    };
  };
}

interface Weeks {
  readonly seed: number;
  readonly days: number;
  readonly signal: AbortSignal;
}

async function liveThrough(
  installation: Installation,
  sandbox: Sandbox,
  clock: PastClock,
  { seed, days, signal }: Weeks,
): Promise<void> {
  const begin = clock.now();
  const end = begin + days * dayMs;
  const accounts = installation.accounts.map(
    (id) => new MirroredAccount(installation.account(id), sandbox, clock, signal),
  );
  for (const account of accounts) await account.readAll();
  const random = seededRandom(seedOf(seed, 'history'));
  for (let midnight = begin - (begin % dayMs); midnight < end; midnight += dayMs) {
    for (const at of momentsOf(midnight, random)) {
      if (at < begin || at > end) continue;
      signal.throwIfAborted();
      clock.moveTo(at);
      const account = random.pick(accounts);
      changeSomething(account.vendors, random);
      await account.readEvents();
      await clock.yield();
    }
    clock.moveTo(midnight + dayMs - 1);
    for (const account of accounts) await account.readBalances();
  }
  clock.moveTo(end);
}

/** When something changes on a day: most of it during the hours of work, which are those of five countries. */
function momentsOf(midnight: number, random: SeededRandom): number[] {
  const weekday = dateOf(midnight).getUTCDay();
  const count = weekday === 0 || weekday === 6 ? calm : busy;
  const moments = Array.from({ length: count }, () => {
    const hour = random.happens(0.9) ? 8 + random.fraction() * 13 : random.fraction() * 24;
    return Math.floor(midnight + hour * hourMs);
  });
  return moments.sort((a, b) => a - b);
}

/** One account, and what the mirror does not know of it yet. */
class MirroredAccount {
  readonly vendors: VendorService;
  readonly #served: ServedAccount;
  readonly #clock: PastClock;
  readonly #signal: AbortSignal;
  readonly #events: AccountEvent[] = [];
  readonly #changed = new Set<number>();

  constructor(served: ServedAccount, sandbox: Sandbox, clock: PastClock, signal: AbortSignal) {
    this.#served = served;
    this.#clock = clock;
    this.#signal = signal;
    this.vendors = sandbox.vendors(served.accountId);
    sandbox.onEvent((event) => {
      if (event.account === served.accountId) this.#events.push(event);
    });
    sandbox.onChange(({ account, vendorid }) => {
      if (account === served.accountId) this.#changed.add(vendorid);
    });
  }

  /** Journals the deliveries of what just happened, and reads their vendors, as the queue's worker does. */
  async readEvents(): Promise<void> {
    if (this.#events.length === 0) return;
    const { mirror, accountId, sync } = this.#served;
    this.#clock.moveTo(this.#clock.now() + deliveredAfter);
    const receivedAt = this.#clock.now();
    const deliveries = this.#events.splice(0).map(({ event, objectId, businessId, identityId, userId }) => ({
      ...{ accountId, receivedAt, name: event, objectId, businessId, identityId, userId },
      vendorid: objectId,
    }));
    await mirror.deliveries.acceptDeliveries(deliveries);
    for (const mark of await mirror.queue.dueMarks(accountId)) {
      const open = await mirror.queue.openDeliveries(mark);
      const deliveryId = open.at(-1)?.id ?? null;
      const context = { accountId, source: 'delivery', runId: null, deliveryId, lag: sync.lag } as const;
      await processMark(this.#served, mark, open, { context, signal: this.#signal });
      this.#changed.delete(mark.vendorid);
    }
  }

  /** Reads all lists at first, those of deleted and archived vendors too. */
  async readAll(): Promise<void> {
    for (const visState of [undefined, 1, 2] as const) await this.#readList({ visState }, 'pull', () => true);
    this.#changed.clear();
  }

  /** Reads the list for balances, which no event announces. */
  async readBalances(): Promise<void> {
    await this.#readList({}, 'reconcile', (vendorid) => this.#changed.has(vendorid));
    this.#changed.clear();
  }

  async #readList(
    list: { readonly visState?: 1 | 2 | undefined },
    source: Source,
    isNew: (vendorid: number) => boolean,
  ): Promise<void> {
    const { mirror, accountId, client, sync } = this.#served;
    const context = { accountId, source, runId: null, deliveryId: null, lag: sync.lag };
    for await (const { rows, stamp } of client.vendors.pages({ ...list, signal: this.#signal }))
      for (const row of rows) if (isNew(row.vendorid)) await mirror.readings.applyReading({ row, stamp }, context);
  }
}

interface Timer {
  readonly due: number;
  readonly run: () => void;
}

/** A clock of the past: it stands still between two moments of a history, and ends at the moment at which it was made. */
export class PastClock implements Clock {
  readonly #real: Pick<Clock, 'yield'>;
  /** Where it ends. */
  readonly #end: { readonly wall: number; readonly monotonic: number };
  readonly #timers = new Set<Timer>();
  /** Milliseconds until the end. */
  #left: number;

  /** @param span how long before now it begins, in milliseconds */
  constructor(clock: Clock, span: number) {
    this.#real = clock;
    this.#end = { wall: clock.now(), monotonic: Math.max(clock.monotonic(), span) };
    this.#left = span;
  }

  now(): number {
    return this.#end.wall - this.#left;
  }

  /**
   * Ends where the real clock continues, so that mirror time goes on without a jump. Where the machine has not run for that long, it is as if
   * the machine was restarted at the end, because monotonic time begins at 0.
   */
  monotonic(): number {
    return this.#end.monotonic - this.#left;
  }

  /** Runs only when time is moved past it: nothing here waits for a timer, and no deadline is missed while time stands still. */
  timer(ms: number, run: () => void): () => void {
    assertDelay(ms);
    const timer = { due: this.monotonic() + ms, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  yield(): Promise<void> {
    return this.#real.yield();
  }

  /** Moves time to `wall`, milliseconds since 1970, but neither back nor past the end. */
  moveTo(wall: number): void {
    this.#left = Math.max(0, Math.min(this.#left, this.#end.wall - wall));
    for (const timer of this.#timers)
      if (timer.due <= this.monotonic()) {
        this.#timers.delete(timer);
        timer.run();
      }
  }
}
