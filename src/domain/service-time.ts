/**
 * Whether this machine's clock agrees with the service's, as far as the `Date` of its answers shows.
 *
 * An answer contradicts the clock where its `Date` lies outside the time from sending the request to receiving the answer, by more than the
 * service may lag. One such answer may come from a cache or from one wrong machine of many; three in a row, or all that there are, show that
 * the clock is wrong. An agreeing answer ends the doubt. A service that sends no `Date` contradicts nothing.
 */
import type { Clock } from './clock.ts';

/** Consecutive answers that show that the clock is wrong, although earlier ones agreed with it. */
const enough = 3;

/** `Date` has a resolution of one second, in milliseconds. */
const grain = 1_000;

/** The least difference that counts, in milliseconds. */
const leastTolerance = 5_000;

/** A request and its answer, by this machine's wall clock, in milliseconds since 1970. */
export interface Exchanged {
  readonly sentAt: number;
  readonly answeredAt: number;
  /** The `Date` of the answer; undefined where it has none. */
  readonly servedAt: number | undefined;
}

export class ServiceTime {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #tolerance: number;
  readonly #onChange: (aheadBy: number | null) => void;
  #contradictions = 0;
  #aheadBy: number | null = null;
  /** When an answer last agreed with the clock, or said nothing: by both clocks. */
  #agreed: { readonly wall: number; readonly monotonic: number } | undefined;

  /**
   * @param lag how long the service may lag, in milliseconds
   * @param onChange is called when the clock is found to be wrong, with the milliseconds by which it is ahead, and with null once it is right
   */
  constructor(clock: Pick<Clock, 'now' | 'monotonic'>, lag: number, onChange: (aheadBy: number | null) => void) {
    this.#clock = clock;
    this.#tolerance = Math.max(lag, leastTolerance);
    this.#onChange = onChange;
  }

  /** How far this machine's clock is ahead of the service's, in milliseconds; null where it is not known to be wrong. */
  get aheadBy(): number | null {
    return this.#aheadBy;
  }

  /** Whether the last answer agreed with the clock, and the clock has run evenly since: what is removed by age may be removed. */
  get isProven(): boolean {
    if (!this.#agreed || this.#contradictions > 0) return false;
    const { wall, monotonic } = this.#agreed;
    const jumped = this.#clock.now() - wall - (this.#clock.monotonic() - monotonic);
    return Math.abs(jumped) <= this.#tolerance;
  }

  observe({ sentAt, answeredAt, servedAt }: Exchanged): void {
    const late = servedAt === undefined ? 0 : sentAt - this.#tolerance - grain - servedAt;
    const early = servedAt === undefined ? 0 : servedAt - answeredAt - this.#tolerance;
    if (servedAt === undefined || (late <= 0 && early <= 0)) {
      this.#contradictions = 0;
      this.#agreed = { wall: this.#clock.now(), monotonic: this.#clock.monotonic() };
      this.#set(null);
      return;
    }
    this.#contradictions += 1;
    if (this.#contradictions >= enough || !this.#agreed) this.#set(answeredAt - servedAt);
  }

  #set(aheadBy: number | null): void {
    const isChange = (aheadBy === null) !== (this.#aheadBy === null);
    this.#aheadBy = aheadBy;
    if (isChange) this.#onChange(aheadBy);
  }
}
