import { describe, expect, it } from 'vitest';
import { timestamp } from '../../../../src/domain/clock.ts';
import type { VendorPage, VendorRow } from '../../../../src/domain/reading.ts';
import type { Verdict } from '../../../../src/store/acceptance.ts';
import { EntryWatch } from '../../../../src/sync/sweep/list-reader.ts';
import { kept, type Vendor } from '../../../../src/domain/vendor.ts';

const noon = Date.UTC(2026, 10, 20, 12);
const [second, minute, hour] = [1_000, 60_000, 3_600_000];
const lag = 5 * second;

/** A page that was asked for `ms` after noon, by mirror time and by the service's clock, which is `ahead`. */
const pageAt = (ms: number, ahead = 0): VendorPage => ({
  stamp: { readSeq: 1, begun: ms },
  page: 1,
  pages: 9,
  perPage: 15,
  total: 100,
  servedAt: noon + ms + ahead,
  rows: [],
});

/** A vendor whose latest stamp is `written`, in Unix ms. */
const vendorOf = (written: number): Vendor => ({
  vendorid: 1,
  created_at: '2020-01-01 00:00:00',
  updated_at: timestamp(written).slice(0, 19),
  unknown: new Map(),
});

const rowOf = (vendor: Vendor): VendorRow => ({ vendorid: 1, raw: '{}', vendor: () => vendor });

const state = { vis_state: 0, presence: 'present', updated_at: null, held_since_ms: 0 } as const;
const updated = (vendor: Vendor): Verdict => ({
  kind: 'updated',
  before: state,
  after: { ...state, updated_at: kept(vendor.updated_at) ?? null },
  changed: ['city'],
});

/** Whether a vendor that was written at `written` may have entered a list whose walk began at noon, and that shows it `after` ms later. */
function mayEnter(written: number, { after = 10 * second, ahead = 0, lagging = lag } = {}): boolean {
  const watch = new EntryWatch(pageAt(0, ahead), lagging);
  const vendor = vendorOf(written);
  watch.see(rowOf(vendor), updated(vendor), pageAt(after, ahead));
  return watch.entered;
}

describe('a vendor that a walk finds changed', () => {
  it.each([
    ['during the walk', 4 * second, true],
    ['within the lag before it', -3 * second, true],
    ['just within the lag before it, and what clocks may differ', -7 * second, true],
    ['before that', -9 * second, false],
    ['a minute before it', -minute, false],
    ['an hour before it', -hour - minute, false],
    ['a day before it', -24 * hour, false],
  ])('K7 may have entered if it was written %s', (_, written, expected) => {
    expect(mayEnter(noon + written)).toBe(expected);
  });

  it('K7 may have entered if the clock of answers is ahead of the timestamps', () => {
    expect(mayEnter(noon + 1 * second, { ahead: 2 * second })).toBe(true);
    expect(mayEnter(noon, { ahead: 2 * second, lagging: 0 })).toBe(true);
  });

  it.each([
    ['updates are five hours behind UTC, creations are not', 0, 5],
    ['creations are five hours behind UTC, updates are not', 5, 0],
    ['updates are nine hours ahead of creations', 5, -4],
  ])('L17 may have entered by either column, where %s', (_, created, changed) => {
    const text = (ms: number, zone: number): string => timestamp(ms - zone * hour).slice(0, 19);
    const watch = new EntryWatch(pageAt(0), lag);
    const see = (vendor: Vendor): void => watch.see(rowOf(vendor), updated(vendor), pageAt(10 * second));
    // Another vendor shows how far each column is ahead.
    const old = noon - 26 * hour;
    see({ vendorid: 2, created_at: text(noon - minute, created), updated_at: text(old, changed), unknown: new Map() });
    watch.see(rowOf(vendorOf(old)), updated(vendorOf(old)), pageAt(10 * second));
    see({
      vendorid: 1,
      created_at: text(old, created),
      updated_at: text(noon + 4 * second, changed),
      unknown: new Map(),
    });
    expect(watch.entered).toBe(true);
  });

  it('K7 may have entered if the clock of answers is behind the timestamps', () => {
    expect(mayEnter(noon + 11 * second, { ahead: -2 * second })).toBe(true);
  });

  it.each([-minute, minute])('K7 may have entered if all clocks of the service differ by %s ms from ours', (ahead) => {
    expect(mayEnter(noon + ahead + 4 * second, { ahead })).toBe(true);
    expect(mayEnter(noon + ahead - 9 * second, { ahead })).toBe(false);
  });

  it('K7 may have entered if it was created during the walk but has an older update time', () => {
    const watch = new EntryWatch(pageAt(0), lag);
    const vendor = { ...vendorOf(noon - 24 * hour), created_at: timestamp(noon + 4 * second).slice(0, 19) };
    watch.see(rowOf(vendor), updated(vendor), pageAt(10 * second));
    expect(watch.entered).toBe(true);
  });

  it('K7 cannot have entered if a later timestamp proves another time zone', () => {
    const watch = new EntryWatch(pageAt(0), lag);
    const see = (written: number): void => {
      const vendor = vendorOf(written);
      watch.see(rowOf(vendor), updated(vendor), pageAt(10 * second));
    };
    see(noon - 5 * hour + 4 * second);
    expect(watch.entered).toBe(true);
    see(noon - minute);
    expect(watch.entered).toBe(false);
  });

  it.each([-12, -5, -3.5, 0, 2, 5.75])('K7 may have entered if timestamps are %s hours from UTC', (zone) => {
    expect(mayEnter(noon + zone * hour + 4 * second)).toBe(true);
    expect(mayEnter(noon + zone * hour - 4 * minute)).toBe(false);
  });

  it('K7 may have entered just after the time zone changed by an hour, although older timestamps are later', () => {
    const watch = new EntryWatch(pageAt(0), lag);
    for (const written of [noon - 4 * hour - 40 * minute, noon - 5 * hour + 4 * second]) {
      const vendor = vendorOf(written);
      watch.see(rowOf(vendor), updated(vendor), pageAt(10 * second));
    }
    expect(watch.entered).toBe(true);
  });

  it.each([
    ['stored for long', -7 * second, '2026-11-01 12:00:00', false],
    ['stored for so short that it may have been edited twice in one second', -5_500, '2026-11-01 12:00:00', true],
    ['stored with another time of its last edit', -7 * second, '2026-10-01 12:00:00', true],
    ['stored without one', -7 * second, null, true],
  ])(
    'K7 of which no creation can be read, may have entered where it is %s: %s',
    (_, held_since_ms, updated_at, entered) => {
      for (const kind of ['updated', 'guarded'] as const) {
        const watch = new EntryWatch(pageAt(0), lag);
        const vendor = { ...vendorOf(Date.UTC(2026, 10, 1, 12)), created_at: null };
        watch.see(
          rowOf(vendor),
          { ...updated(vendor), kind, before: { ...state, updated_at, held_since_ms } } as Verdict,
          pageAt(10 * second),
        );
        expect(watch.entered).toBe(entered);
      }
    },
  );

  it('may have entered if it has no timestamp, or its state has changed', () => {
    const watch = (verdict: Verdict, vendor: Vendor): boolean => {
      const one = new EntryWatch(pageAt(0), lag);
      one.see(rowOf(vendor), verdict, pageAt(second));
      return one.entered;
    };
    const old = vendorOf(noon - 24 * hour);
    expect(watch({ kind: 'created', vendor: { vendorid: 1, unknown: new Map() } }, old)).toBe(true);
    expect(watch({ ...updated(old), before: { ...state, vis_state: 1 } } as Verdict, old)).toBe(true);
    expect(watch({ kind: 'stale' }, old)).toBe(true);
  });
});

describe('a vendor that a walk finds as stored', () => {
  it.each([
    ['since the walk began', 1 * second, true],
    ['for less than the lag', -4 * second, true],
    ['since just the lag before', -5 * second, false],
    ['for longer than the lag', -6 * second, false],
  ])('K8 may have entered if it has been stored so %s', (_, heldSince, expected) => {
    const watch = new EntryWatch(pageAt(0), lag);
    watch.see(rowOf(vendorOf(noon)), { kind: 'unchanged', heldSince, visState: 0 }, pageAt(second));
    expect(watch.entered).toBe(expected);
  });
});
