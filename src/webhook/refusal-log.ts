/**
 * What becomes of requests that the listener refused: they are counted in the mirror by account and outcome, and the first of each is logged,
 * then one an hour. Anybody who learns of a callback's address can send such requests, so neither grows with their number: one write a second
 * at most, and nothing of a request but the names of headers.
 */
import { sleptThrough, type Clock } from '../domain/clock.ts';
import type { Service } from '../domain/concurrency.ts';
import type { Log } from '../domain/log.ts';
import { expectedRefusals, refusalRemedy, refusalWords } from '../health/callbacks.ts';
import { ofStrangers, type Refused, type Refusals } from '../store/refusals.ts';

const writeEvery = 1_000;
const logEvery = 3_600_000;

export class RefusalLog implements Service {
  readonly name = 'the count of refused deliveries';
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #mirror: Pick<Refusals, 'add' | 'forgetStrangers'>;
  readonly #stopping = new AbortController();
  /** Not in the mirror yet, by account and outcome. */
  readonly #waiting = new Map<string, Refused>();
  /** The hour of each in which it may be logged once: its begin, how many came since, and how many were not logged yet. */
  readonly #hours = new Map<string, { readonly begin: number; count: number; unsaid: number }>();
  #writing: Promise<void> | undefined;

  constructor({ clock, log, mirror }: { clock: Clock; log: Log; mirror: Pick<Refusals, 'add' | 'forgetStrangers'> }) {
    this.#clock = clock;
    this.#log = log;
    this.#mirror = mirror;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  /** Writes what waits. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('Stopping.'));
    await this.#writing;
    await this.#write();
  }

  /** `detail` says what was wrong, and contains nothing secret. */
  note(accountId: string, outcome: string, detail: string | null): void {
    const now = this.#clock.now();
    this.#hold({ accountId, outcome, count: 1, firstAt: now, lastAt: now, detail });
    // What cannot be stored is logged where that is found, with its cause.
    if (outcome !== 'unavailable') this.#report(accountId, outcome, detail);
    this.#writing ??= this.#writeAll();
  }

  /** Forgets what may have come of strangers, also what is not written yet: the address that they know is replaced. */
  async forgetStrangers(accountId: string): Promise<void> {
    for (const outcome of ofStrangers) this.#waiting.delete(`${accountId} ${outcome}`);
    await this.#mirror.forgetStrangers(accountId);
  }

  #hold(refused: Refused): void {
    const key = `${refused.accountId} ${refused.outcome}`;
    const { count = 0, firstAt = refused.firstAt } = this.#waiting.get(key) ?? {};
    this.#waiting.set(key, { ...refused, count: count + refused.count, firstAt: Math.min(firstAt, refused.firstAt) });
  }

  #report(account: string, outcome: string, detail: string | null): void {
    const key = `${account} ${outcome}`;
    const now = this.#clock.monotonic();
    const last = this.#hours.get(key);
    const hour = last && now - last.begin < logEvery ? last : { begin: now, count: 0, unsaid: last?.unsaid ?? 0 };
    this.#hours.set(key, hour);
    hour.count += 1;
    hour.unsaid += 1;
    if (hour.count !== expectedRefusals(outcome) + 1) return;
    const refused = hour.unsaid;
    hour.unsaid = 0;
    const which = refused === 1 ? 'a request was refused' : `${refused} requests were refused`;
    this.#log.warn(
      { account, outcome, refused },
      `${which}: ${refusalWords(outcome, detail)}. ${refusalRemedy(outcome, account)}`,
    );
  }

  async #writeAll(): Promise<void> {
    do {
      // Those of one moment share a commit.
      await this.#clock.yield();
      if (!(await this.#write())) break;
      await sleptThrough(this.#clock, writeEvery, this.#stopping.signal);
    } while (this.#waiting.size > 0 && !this.#stopping.signal.aborted);
    this.#writing = undefined;
  }

  /** @returns false where the mirror cannot be written: the next refusal tries again. */
  async #write(): Promise<boolean> {
    const refused = [...this.#waiting.values()];
    if (refused.length === 0) return true;
    this.#waiting.clear();
    try {
      await this.#mirror.add(refused);
      return true;
    } catch {
      const later = [...this.#waiting.values()];
      this.#waiting.clear();
      for (const each of [...refused, ...later]) this.#hold(each);
      return false;
    }
  }
}
