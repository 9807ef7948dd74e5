import { describe, expect, it } from 'vitest';
import { PastClock } from '../../../src/cmd/sandbox-history.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const dayMs = 86_400_000;

describe('a clock of the past', () => {
  it('begins so long ago, stands still, and ends where the real clock was', async () => {
    const real = virtualClock();
    await real.advance(100 * dayMs);
    const clock = new PastClock(real, 42 * dayMs);
    expect([clock.now(), clock.monotonic()]).toEqual([real.now() - 42 * dayMs, real.monotonic() - 42 * dayMs]);
    const end = [real.now(), real.monotonic()];
    await real.advance(5_000);
    expect(clock.now()).toBe(end[0]! - 42 * dayMs);
    clock.moveTo(Infinity);
    expect([clock.now(), clock.monotonic()]).toEqual(end);
  });

  it('has no negative monotonic time where the machine has run for a shorter time', () => {
    const clock = new PastClock(virtualClock(), 42 * dayMs);
    expect(clock.monotonic()).toBe(0);
    clock.moveTo(Infinity);
    expect(clock.monotonic()).toBe(42 * dayMs);
  });

  it('never moves back', () => {
    const real = virtualClock();
    const clock = new PastClock(real, dayMs);
    clock.moveTo(real.now() - 1_000);
    clock.moveTo(real.now() - 2_000);
    expect(clock.now()).toBe(real.now() - 1_000);
  });

  it('runs timers when it is moved past them, unless they were cancelled', () => {
    const real = virtualClock();
    const clock = new PastClock(real, 10_000);
    const ran: string[] = [];
    clock.timer(1_000, () => ran.push('first'));
    clock.timer(9_000, () => ran.push('late'));
    const cancel = clock.timer(1_000, () => ran.push('cancelled'));
    cancel();
    clock.moveTo(real.now() - 9_001);
    expect(ran).toEqual([]);
    clock.moveTo(real.now() - 9_000);
    expect(ran).toEqual(['first']);
  });
});
