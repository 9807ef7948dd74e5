/** Conversion between instants and the local time of a zone, across daylight saving changes. */

const day = 86_400_000;

/** Local times are milliseconds since 1970 as the zone's clocks show them, read as if they were UTC. */
export class Timezone {
  readonly #format: Intl.DateTimeFormat;

  /** @throws RangeError if there is no such zone. */
  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' });
  }

  /** The zone's offset from UTC at an instant, in milliseconds. */
  offset(instant: number): number {
    const text = this.#format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours, minutes, seconds] = /([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(text) ?? [];
    const ahead = Number(hours ?? 0) * 3_600_000 + Number(minutes ?? 0) * 60_000 + Number(seconds ?? 0) * 1_000;
    return sign === '-' ? -ahead : ahead;
  }

  /** The first instant after `from` and up to `to` at which the offset differs from that at `from`; `to` where it does not change. */
  change(from: number, to: number): number {
    const old = this.offset(from);
    let [same, other] = [from, to];
    while (other - same > 1) {
      const middle = Math.floor((same + other) / 2);
      if (this.offset(middle) === old) same = middle;
      else other = middle;
    }
    return other;
  }

  /**
   * The first instant at which the clocks show `local` or later: for a skipped time, the end of the gap; for a repeated one, the first
   * occurrence. Never falls as `local` rises.
   */
  reaches(local: number): number {
    const [before, after] = [this.offset(local - day), this.offset(local + day)];
    if (this.offset(local - before) === before) return local - before;
    if (this.offset(local - after) === after) return local - after;
    return this.change(local - after, local - before);
  }
}
