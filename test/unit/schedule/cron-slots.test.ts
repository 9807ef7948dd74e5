import fc from 'fast-check';
import { createTask } from 'node-cron';
import { describe, expect, it } from 'vitest';
import { checkCron, CronSlots } from '../../../src/schedule/cron-slots.ts';

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];

const iso = (ms: number): string => new Date(ms).toISOString().slice(0, 19);

/** The slots from one instant up to another. */
function slotsBetween(expression: string, timezone: string, from: string, to: string): string[] {
  const slots = new CronSlots(expression, timezone);
  const found: string[] = [];
  for (let at = slots.after(Date.parse(`${from}Z`)); at <= Date.parse(`${to}Z`); at = slots.after(at))
    found.push(iso(at));
  return found;
}

describe('a cron expression', () => {
  it.each(['*/15 * * * *', '0 3 * * *', '*/10 * * * * *', '0 0 29 2 1', '0 3 L * *', '0 9 * * mon-fri'])(
    '%s is accepted',
    (text) => {
      expect(checkCron(text)).toBeUndefined();
    },
  );

  it.each([
    ['99 * * * *', /minute/],
    ['* * * *', /.+/],
    ['0 25 * * *', /hour/],
    ['*/0 * * * *', /minute/],
    ['0 0 30 2 *', /impossible day/],
    ['0 0 L-30 2 *', /no day of the calendar/],
    ['often', /.+/],
  ])('%s is refused with its reason', (text, reason) => {
    expect(checkCron(text)).toMatch(reason);
  });
});

describe('slots through daylight saving', () => {
  it('B5 02:30 that the clocks skip comes once, where the skip ends', () => {
    const berlin = slotsBetween('30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00', '2026-03-30T12:00');
    expect(berlin).toEqual(['2026-03-28T01:30:00', '2026-03-29T01:00:00', '2026-03-30T00:30:00']);
    const newYork = slotsBetween('30 2 * * *', 'America/New_York', '2026-03-07T00:00', '2026-03-09T12:00');
    expect(newYork).toEqual(['2026-03-07T07:30:00', '2026-03-08T07:00:00', '2026-03-09T06:30:00']);
  });

  it('B5 02:30 and 01:30 that the clocks show twice come once, the first time', () => {
    const berlin = slotsBetween('30 2 * * *', 'Europe/Berlin', '2026-10-24T00:00', '2026-10-26T12:00');
    expect(berlin).toEqual(['2026-10-24T00:30:00', '2026-10-25T00:30:00', '2026-10-26T01:30:00']);
    const newYork = slotsBetween('30 1 * * *', 'America/New_York', '2026-10-31T00:00', '2026-11-02T12:00');
    expect(newYork).toEqual(['2026-10-31T05:30:00', '2026-11-01T05:30:00', '2026-11-02T06:30:00']);
  });

  it('B5 a schedule of every hour continues evenly through all four changes', () => {
    for (const [timezone, date] of [
      ['Europe/Berlin', '2026-03-29'],
      ['Europe/Berlin', '2026-10-25'],
      ['America/New_York', '2026-03-08'],
      ['America/New_York', '2026-11-01'],
    ] as const)
      expect(slotsBetween('*/15 * * * *', timezone, `${date}T00:00`, `${date}T23:59`)).toHaveLength(95);
  });

  it('B5 every local time comes exactly once a day in every zone, all year', () => {
    const zones = [
      'Europe/Berlin',
      'America/New_York',
      'Australia/Lord_Howe',
      'Asia/Kathmandu',
      'America/St_Johns',
      'UTC',
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: 0, max: 23 }),
        fc.integer({ min: 0, max: 59 }),
        (zone, h, m) => {
          const days = slotsBetween(`${m} ${h} * * *`, zone, '2026-01-02T00:00', '2027-01-02T00:00');
          expect(days).toHaveLength(365);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('B5 a schedule of every hour agrees with node-cron minute by minute', () => {
    const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'];
    const expressions = ['*/15 * * * *', '7 * * * *', '10,40 * * * sun', '0 * 1,15 * *', '30 * 25-31 3,10 *'];
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.constantFrom(...expressions),
        fc.integer({ min: 0, max: 366 * 24 * 60 }),
        (zone, expression, minutes) => {
          const from = Date.UTC(2026, 0, 1) + minutes * minute;
          const slot = new CronSlots(expression, zone).after(from);
          const task = createTask(expression, () => undefined, { timezone: zone });
          void task.destroy();
          expect(task.match(new Date(slot))).toBe(true);
          for (let between = from + minute; between < Math.min(slot, from + 2 * day); between += minute)
            expect(task.match(new Date(between))).toBe(false);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('B5 the first slot after an instant does not depend on earlier queries', () => {
    const zones = ['Europe/Berlin', 'America/New_York', 'UTC'];
    const expressions = ['*/15 * * * *', '30 2 * * *', '30 1 25-31 3,10 *'];
    // Hours of a month in which the clocks of both zones change.
    const instants = fc.array(fc.integer({ min: 0, max: 31 * 24 }), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(fc.constantFrom(...zones), fc.constantFrom(...expressions), instants, (zone, expression, asked) => {
        const slots = new CronSlots(expression, zone);
        for (const nth of asked) {
          const instant = Date.UTC(2026, 9, 15) + nth * hour;
          const slot = new CronSlots(expression, zone).after(instant);
          for (const at of [instant, slot - 1]) expect(slots.after(at)).toBe(slot);
          expect(slots.after(slot)).toBe(new CronSlots(expression, zone).after(slot));
        }
      }),
      { numRuns: 50 },
    );
  });
});
