import fc from 'fast-check';
import { createTask } from 'node-cron';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { sleep, type Random } from '../../../src/domain/clock.ts';
import { silentLog } from '../../../src/domain/log.ts';
import {
  checkCron,
  createSchedule,
  offsetSlots,
  openSlots,
  type Schedule,
  type ScheduleOptions,
} from '../../../src/schedule/scheduler.ts';
import { virtualClock, type VirtualClock } from '../../support/virtual-clock.ts';
import { cases } from '../../support/test-size.ts';

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];
const start = Date.UTC(2026, 10, 20, 12);

const random = (fraction: number): Random => ({ fraction: () => fraction, bytes: (count) => new Uint8Array(count) });
const iso = (ms: number): string => new Date(ms).toISOString().slice(0, 19);

/** The slots from one instant up to another. */
function slotsBetween(expression: string, timezone: string, from: string, to: string): string[] {
  const slots = openSlots(expression, timezone);
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

describe('the slots of one of several accounts', () => {
  it.each(['* * * * *', '*/15 * * * *', '0 3 * * *', '*/10 * * * * *', '0,1,30 9 * * mon-fri'])(
    'K17 %s: each slot once, later by at most 15 minutes and by less than the time to the next',
    (expression) => {
      const slots = openSlots(expression, 'UTC');
      for (const account of ['6BApk', 'other', 'third']) {
        const own = offsetSlots(slots, account);
        let [slot, at] = [slots.after(start), own.after(slots.after(start) - 1)];
        for (let count = 0; count < 40; count++) {
          expect(at - slot).toBeGreaterThanOrEqual(0);
          expect(at - slot).toBeLessThan(Math.min(15 * minute, slots.after(slot) - slot));
          // From wherever it is asked in between.
          expect(own.after(at - 1)).toBe(at);
          [slot, at] = [slots.after(slot), own.after(at)];
        }
      }
    },
  );

  it('K17 lie apart, and stay where they are whatever other accounts there are', () => {
    const slots = openSlots('*/15 * * * *', 'UTC');
    const offsets = Array.from({ length: 300 }, (_, index) => offsetSlots(slots, `a${index}`).after(start) - start);
    for (let minutes = 0; minutes < 15; minutes++)
      expect(offsets.filter((ms) => Math.floor(ms / minute) === minutes).length).toBeGreaterThan(5);
  });

  it('K24 cost a thousand accounts that ask one after the other no more looks at the calendar than a few', () => {
    const looks = vi.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts');
    const slots = openSlots('*/15 * * * *', 'Europe/Berlin');
    for (let index = 0; index < 1_000; index++) offsetSlots(slots, `a${index}`).after(start + index);
    expect(looks.mock.calls.length).toBeLessThan(100);
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

  it('B5 a schedule of every hour goes on evenly through all four changes', () => {
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
      { numRuns: cases(25) },
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
          const slot = openSlots(expression, zone).after(from);
          const task = createTask(expression, () => undefined, { timezone: zone });
          void task.destroy();
          expect(task.match(new Date(slot))).toBe(true);
          for (let between = from + minute; between < Math.min(slot, from + 2 * day); between += minute)
            expect(task.match(new Date(between))).toBe(false);
        },
      ),
      { numRuns: cases(60) },
    );
  });

  it('B5 the first slot after an instant is the same whatever was asked before', () => {
    const zones = ['Europe/Berlin', 'America/New_York', 'UTC'];
    const expressions = ['*/15 * * * *', '30 2 * * *', '30 1 25-31 3,10 *'];
    // Hours of a month in which the clocks of both zones change.
    const instants = fc.array(fc.integer({ min: 0, max: 31 * 24 }), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(fc.constantFrom(...zones), fc.constantFrom(...expressions), instants, (zone, expression, asked) => {
        const slots = openSlots(expression, zone);
        for (const nth of asked) {
          const instant = Date.UTC(2026, 9, 15) + nth * hour;
          const slot = openSlots(expression, zone).after(instant);
          for (const at of [instant, slot - 1]) expect(slots.after(at)).toBe(slot);
          expect(slots.after(slot)).toBe(openSlots(expression, zone).after(slot));
        }
      }),
      { numRuns: cases(50) },
    );
  });
});

describe('a schedule', () => {
  let running: Schedule | undefined;
  afterEach(() => running?.stop());

  /** Starts a schedule; `begun` holds the true minutes since the start at which it ran. */
  async function scheduled(clock: VirtualClock, cron: string, options: Partial<ScheduleOptions> = {}) {
    const begun: number[] = [];
    const { run = () => Promise.resolve(), ...others } = options;
    running = createSchedule({
      name: 'test',
      slots: openSlots(cron, 'UTC'),
      clock,
      random: random(0),
      log: silentLog,
      lastRun: start,
      run(signal) {
        begun.push(clock.monotonic() / minute);
        return run(signal);
      },
      ...others,
    });
    await running.start();
    return { begun, schedule: running };
  }

  it('runs at every slot, and says when the next one is', async () => {
    const clock = virtualClock({ start });
    const { begun, schedule } = await scheduled(clock, '*/15 * * * *');
    expect(schedule.next).toBe(start + 15 * minute);
    await clock.advance(46 * minute);
    expect(begun).toEqual([15, 30, 45]);
  });

  it('begins a little after the slot, at most thirty seconds or a tenth of the interval', async () => {
    const clock = virtualClock({ start });
    const { begun } = await scheduled(clock, '0 * * * *', { random: random(0.999) });
    await clock.advance(hour + minute);
    expect(begun).toEqual([60 + Math.floor(29_970) / minute]);
    await running?.stop();
    const short = await scheduled(clock, '*/1 * * * *', { random: random(0.999), lastRun: clock.now() });
    await clock.advance(minute + 10 * second);
    expect(short.begun).toHaveLength(1);
  });

  it('makes a slot up at the start that passed while the process was down, once', async () => {
    const clock = virtualClock({ start });
    const { begun } = await scheduled(clock, '*/15 * * * *', { lastRun: start - 3 * day });
    await clock.advance(16 * minute);
    expect(begun).toEqual([0, 15]);
  });

  it('runs at the start when it never ran, and not when it just ran', async () => {
    const clock = virtualClock({ start });
    const never = await scheduled(clock, '0 3 * * *', { lastRun: undefined });
    await clock.advance(0);
    expect(never.begun).toEqual([0]);
    await running?.stop();
    const fresh = await scheduled(clock, '0 3 * * *', { lastRun: start - hour });
    await clock.advance(hour);
    expect(fresh.begun).toEqual([]);
  });

  it('B4 runs at the start when the last run lies in the future: nobody knows how long ago that was', async () => {
    const clock = virtualClock({ start });
    const { begun } = await scheduled(clock, '0 3 * * *', { lastRun: start + 400 * day });
    await clock.advance(2 * hour);
    expect(begun).toEqual([0]);
  });

  it('A15 never overlaps: a slot that comes during a run waits until it ended', async () => {
    const clock = virtualClock({ start });
    let open = 0;
    const { begun } = await scheduled(clock, '*/15 * * * *', {
      async run(signal) {
        open += 1;
        expect(open).toBe(1);
        await sleep(clock, 20 * minute, signal);
        open -= 1;
      },
    });
    await clock.advance(55 * minute);
    expect(begun).toEqual([15, 50]);
  });

  it('A16 runs longer than their interval are each followed by a rest of one interval', async () => {
    const clock = virtualClock({ start });
    const { begun } = await scheduled(clock, '*/15 * * * *', {
      run: (signal) => sleep(clock, 29.9 * minute, signal),
    });
    await clock.advance(3 * hour);
    const ends = begun.map((minutes) => minutes + 29.9);
    expect(begun.length).toBeGreaterThan(3);
    begun.slice(1).forEach((minutes, index) => expect(minutes - ends[index]!).toBeGreaterThanOrEqual(15));
  });

  it('B4 a clock set forward by a day makes up one run, not a day of them', async () => {
    const clock = virtualClock({ start });
    const { begun } = await scheduled(clock, '*/15 * * * *');
    await clock.advance(20 * minute);
    clock.shiftWall(day);
    await clock.advance(30 * minute);
    expect(begun).toEqual([15, 21, 30, 45]);
  });

  it('B4 a clock set back by a day skips nothing', async () => {
    const clock = virtualClock({ start });
    const { begun } = await scheduled(clock, '*/15 * * * *');
    await clock.advance(20 * minute);
    clock.shiftWall(-day);
    await clock.advance(30 * minute);
    expect(begun).toEqual([15, 30, 45]);
  });

  it('B4 a daily slot runs again when the clock was set back by a day, and not when by an hour', async () => {
    const clock = virtualClock({ start });
    const { begun } = await scheduled(clock, '0 13 * * *');
    await clock.advance(70 * minute);
    clock.shiftWall(-hour);
    await clock.advance(2 * hour);
    expect(begun).toEqual([60]);
    clock.shiftWall(-day);
    await clock.advance(day);
    expect(begun.map(Math.round)).toEqual([60, 60 + 60 + 24 * 60]);
  });

  it('B5 a clock rewound ten times across a slot runs it once', async () => {
    const clock = virtualClock({ start });
    const { begun } = await scheduled(clock, '0 13 * * *');
    await clock.advance(61 * minute);
    for (let rewind = 0; rewind < 10; rewind += 1) {
      clock.shiftWall(-2 * minute);
      await clock.advance(2 * minute);
    }
    expect(begun).toEqual([60]);
  });

  it('B6 a machine that slept six hours catches up within a minute of waking', async () => {
    const clock = virtualClock({ start });
    const { begun } = await scheduled(clock, '*/15 * * * *');
    await clock.advance(5.5 * minute);
    clock.shiftWall(6 * hour);
    await clock.advance(minute);
    expect(begun).toEqual([6]);
  });

  it('B10 never sleeps longer than a minute, nor for less than nothing', async () => {
    const clock = virtualClock({ start });
    await scheduled(clock, '0 0 29 2 *');
    for (const jump of [0, 400 * day, -400 * day, 10 * minute]) {
      clock.shiftWall(jump);
      await clock.advance(minute);
      expect(clock.pending()).toHaveLength(1);
      expect(clock.pending()[0]).toBeLessThanOrEqual(minute);
      expect(clock.pending()[0]).toBeGreaterThan(0);
    }
  });

  it('tries again at the next slot after a run that threw', async () => {
    const clock = virtualClock({ start });
    const { begun } = await scheduled(clock, '*/15 * * * *', { run: () => Promise.reject(new Error('no luck')) });
    await clock.advance(31 * minute);
    expect(begun).toEqual([15, 30]);
  });

  it('stop aborts the run under way and waits for its end', async () => {
    const clock = virtualClock({ start });
    let ended = false;
    const { schedule } = await scheduled(clock, '* * * * *', {
      run: (signal) =>
        new Promise<void>((resolve) =>
          signal.addEventListener('abort', () => {
            ended = true;
            resolve();
          }),
        ),
    });
    await clock.advance(2 * minute);
    await schedule.stop();
    expect(ended).toBe(true);
    expect(clock.pending()).toEqual([]);
    await schedule.stop();
  });

  it('stop is safe before start', async () => {
    const { schedule } = await scheduled(virtualClock({ start }), '* * * * *');
    await schedule.stop();
    const idle = createSchedule({
      name: 'idle',
      slots: openSlots('* * * * *', 'UTC'),
      clock: virtualClock({ start }),
      random: random(0),
      log: silentLog,
      lastRun: undefined,
      run: () => Promise.resolve(),
    });
    await idle.stop();
  });
});
