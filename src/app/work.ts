/**
 * The work of a daemon where several serve one mirror: sweeps, reads, callbacks, outgoing webhooks, publications. One daemon works; the
 * others take deliveries, and one of them takes over when it has stopped, or has been silent for half a minute.
 *
 * Each turn begins with services made anew, because what an earlier one knew may be of before. A daemon that was silent for too long finds
 * that another has taken over: it ends its work, and is the one that waits. Until it notices, both work, which is no harm: what is true hangs
 * on numbers and locks of the mirror.
 */
import { once } from 'node:events';
import { sleptThrough, type Clock } from '../domain/clock.ts';
import { background, repeatedly, startAll, stopAll, type Service } from '../domain/concurrency.ts';
import { asMirrorError, MirrorError } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { Log } from '../domain/log.ts';
import type { Store } from '../store/mirror.ts';
import type { Secrets } from '../store/secrets/secrets.ts';
import type { AccountServices } from './account-services.ts';

export interface WorkOptions {
  readonly mirror: Pick<Store, 'place'>;
  readonly secrets: Pick<Secrets, 'path' | 'beginDaemon'>;
  /** What works, made anew for each turn, in the order in which it starts. */
  readonly services: () => Promise<readonly Service[]>;
  /** Called when a turn has begun. @param isRestored whether the mirror is a copy from before: what was learned since is not in it */
  readonly onBegun: (isRestored: boolean) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export class Work implements Service {
  readonly name = 'the work';
  readonly #options: WorkOptions;
  readonly #stopping = new AbortController();
  #ended: Promise<void> | undefined;

  constructor(options: WorkOptions) {
    this.#options = options;
  }

  /** Resolves when this daemon works, or waits for another one. @throws what keeps its first turn from beginning. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#ended = this.#takeTurns(resolve).catch(reject);
    });
  }

  /** Ends the turn, so that another daemon takes the next one at once. */
  async stop(): Promise<void> {
    this.#stopping.abort(new MirrorError('interrupted', 'The daemon stops.'));
    await this.#ended;
  }

  async #takeTurns(onSettled: () => void): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stopping;
    const state = { isFirst: true, isFailing: false };
    const settled = (): void => {
      state.isFirst = false;
      onSettled();
    };
    const isStopped = (): boolean => signal.aborted;
    while (!isStopped()) {
      try {
        await this.#turn(settled);
        state.isFailing = false;
      } catch (error) {
        if (isStopped()) break;
        if (state.isFirst) throw error;
        if (!state.isFailing) log.warn({ err: asMirrorError(error) }, 'this daemon cannot work yet, and tries again');
        state.isFailing = true;
        await sleptThrough(clock, limits.standbyLooks, signal);
      }
    }
    settled();
  }

  /** Waits for the turn, and works until it is over. */
  async #turn(settled: () => void): Promise<void> {
    const { mirror, secrets, services: made, onBegun, log } = this.#options;
    const over = new AbortController();
    const { epoch, left } = await mirror.place.beginDaemon(secrets.path, {
      signal: this.#stopping.signal,
      onWait(host) {
        log.info({ host }, `a daemon on ${host} works on the mirror; this one takes over when it is gone`);
        settled();
      },
      onSuperseded(host) {
        log.warn({ host }, `this daemon was silent for too long: one on ${host} has taken over its work`);
        over.abort();
      },
    });
    let services: readonly Service[] = [];
    try {
      const isOlder = await secrets.beginDaemon(epoch, left);
      services = await made();
      await startAll(services);
      log.info('this daemon works from now on');
      onBegun(isOlder || left.isOfAnother);
      settled();
      const end = AbortSignal.any([over.signal, this.#stopping.signal]);
      if (!end.aborted) await once(end, 'abort');
    } finally {
      await stopAll(services);
      // Where the server cannot be reached, the others wait until this one has been silent for long enough.
      await mirror.place.endDaemon().catch(() => undefined);
    }
  }
}

interface ArrivalsOptions {
  readonly mirror: Pick<Store, 'deliveries'>;
  readonly secrets: Pick<Secrets, 'verifiers'>;
  readonly accounts: Pick<AccountServices, 'active'>;
  readonly clock: Clock;
}

/** How often it is looked for them, in milliseconds. */
const lookEvery = 1_000;

/**
 * What other daemons take for the one that works: deliveries, and verification codes. Looked for once a second, because a transaction that
 * accepts must not wait for whoever it would tell.
 */
export function createArrivals({ mirror, secrets, accounts, clock }: ArrivalsOptions): Service {
  let lastDelivery: number | undefined;
  let codes: ReadonlyMap<string, string> | undefined;

  const look = async (): Promise<void> => {
    const { last, accounts: delivered } = await mirror.deliveries.arrivedAfter(lastDelivery);
    lastDelivery = last;
    for (const id of delivered) accounts.active(id)?.delivered();
    const waiting = await secrets.verifiers.waitingCodes();
    // Those that were there at the beginning are found by the first check.
    if (codes)
      for (const [id, newest] of waiting)
        if (codes.get(id) !== newest) accounts.active(id)?.subscriptions.codeArrived();
    codes = waiting;
  };

  // A server that cannot be asked is reported by everything else.
  return background('the look for arrivals', (signal) =>
    repeatedly(clock, lookEvery, signal, () => look().catch(() => undefined)),
  );
}
