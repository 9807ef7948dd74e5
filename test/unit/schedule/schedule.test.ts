import { afterEach, describe, expect, it } from 'vitest';
import { sleep, type Random } from '../../../src/domain/clock.ts';
import { silentLog } from '../../../src/domain/log.ts';
import { CronSlots } from '../../../src/schedule/cron-slots.ts';
import { Schedule, type ScheduleOptions } from '../../../src/schedule/schedule.ts';
import { virtualClock, type VirtualClock } from '../../support/virtual-clock.ts';

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];
const start = Date.UTC(2026, 10, 20, 12);

const random = (fraction: number): Random => ({ fraction: () => fraction, bytes: (count) => new Uint8Array(count) });

describe('a schedule', () => {
  let running: Schedule | undefined;
  afterEach(() => running?.stop());

  /** Starts a schedule; `begun` holds the true minutes since the start at which it ran. */
  async function scheduled(clock: VirtualClock, cron: string, options: Partial<ScheduleOptions> = {}) {
    const begun: number[] = [];
    const { run = () => Promise.resolve(), ...others } = options;
    running = new Schedule({
      name: 'test',
      slots: new CronSlots(cron, 'UTC'),
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

  it('runs at every slot, and reports the next one', async () => {
    const clock = virtualClock({ start });
    const { begun, schedule } = await scheduled(clock, '*/15 * * * *');
    expect(schedule.next).toBe(start + 15 * minute);
    await clock.advance(46 * minute);
    expect(begun).toEqual([15, 30, 45]);
  });

  it('begins shortly after the slot, by at most thirty seconds or a tenth of the interval', async () => {
    const clock = virtualClock({ start });
    const { begun } = await scheduled(clock, '0 * * * *', { random: random(0.999) });
    await clock.advance(hour + minute);
    expect(begun).toEqual([60 + Math.floor(29_970) / minute]);
    await running?.stop();
    const short = await scheduled(clock, '*/1 * * * *', { random: random(0.999), lastRun: clock.now() });
    await clock.advance(minute + 10 * second);
    expect(short.begun).toHaveLength(1);
  });

  it('makes up once for slots that passed while the process was down', async () => {
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

  it('B4 runs at the start if the last run is dated in the future, because its age is unknown', async () => {
    const clock = virtualClock({ start });
    const { begun } = await scheduled(clock, '0 3 * * *', { lastRun: start + 400 * day });
    await clock.advance(2 * hour);
    expect(begun).toEqual([0]);
  });

  it('A15 never overlaps: a slot during a run waits until the run has ended', async () => {
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

  it('A16 pauses one interval after each run that took longer than its interval', async () => {
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

  it('B10 never sleeps longer than a minute, nor for a negative time', async () => {
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

  it('runs again at the next slot after a run that threw', async () => {
    const clock = virtualClock({ start });
    const { begun } = await scheduled(clock, '*/15 * * * *', { run: () => Promise.reject(new Error('no luck')) });
    await clock.advance(31 * minute);
    expect(begun).toEqual([15, 30]);
  });

  it('aborts the current run at a stop, and waits for its end', async () => {
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

  it('can be stopped before it was started', async () => {
    const { schedule } = await scheduled(virtualClock({ start }), '* * * * *');
    await schedule.stop();
    const idle = new Schedule({
      name: 'idle',
      slots: new CronSlots('* * * * *', 'UTC'),
      clock: virtualClock({ start }),
      random: random(0),
      log: silentLog,
      lastRun: undefined,
      run: () => Promise.resolve(),
    });
    await idle.stop();
  });
});
