import { describe, expect, it } from 'vitest';
import type { SweepProgress } from '../../../../src/domain/run.ts';
import { progressOf } from '../../../../src/cmd/terminal/progress.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';
import { collector } from '../../../support/testbed/command.ts';

const at = (seen: number, total = 1_000, pass = 1): SweepProgress => ({ pass, page: 1, pages: 10, seen, total });

/** What is said while a sweep goes on: each step takes so long, and has then seen so many. */
async function said(
  steps: readonly (readonly [ms: number, progress: SweepProgress])[],
  columns?: number,
  env: Record<string, string> = {},
): Promise<string> {
  const clock = virtualClock();
  const stderr = collector(columns);
  const progress = progressOf('6BApk', { stderr: stderr.stream, clock, env }, false);
  for (const [ms, step] of steps) {
    await clock.advance(ms);
    progress.show(step);
  }
  progress.end();
  return stderr.text();
}

describe('progress without a terminal', () => {
  it('is a line for every tenth part, with rate and time left', async () => {
    const steps = Array.from({ length: 10 }, (_, index) => [1_000, at((index + 1) * 50)] as const);
    expect(await said(steps)).toMatchInlineSnapshot(`
      "6BApk: 100 of 1000 vendors (10 %), 50/s, 18 s left
      6BApk: 200 of 1000 vendors (20 %), 50/s, 16 s left
      6BApk: 300 of 1000 vendors (30 %), 50/s, 14 s left
      6BApk: 400 of 1000 vendors (40 %), 50/s, 12 s left
      6BApk: 500 of 1000 vendors (50 %), 50/s, 10 s left
      "
    `);
  });

  it('is a line every few seconds where it goes slowly', async () => {
    const steps = Array.from({ length: 12 }, (_, index) => [1_000, at(index + 1, 100_000)] as const);
    expect((await said(steps)).split('\n').filter(Boolean)).toHaveLength(2);
  });

  it('prints nothing if the work is done at once', async () => {
    expect(
      await said([
        [100, at(500)],
        [100, at(1_000)],
      ]),
    ).toBe('');
  });

  it('says that the list is walked again', async () => {
    expect(
      await said([
        [2_000, at(900)],
        [2_000, at(200, 1_000, 2)],
      ]),
    ).toMatchInlineSnapshot(`
      "6BApk: 900 of 1000 vendors (90 %), 450/s, 0 s left
      6BApk: 200 of 1000 vendors (20 %), walk 2: the list is changing
      "
    `);
  });
});

describe('progress on a terminal', () => {
  it('is a bar with rate and time left, that goes away', async () => {
    const text = await said(
      [
        [1_000, at(500)],
        [1_000, at(750)],
      ],
      100,
    );
    expect(text).toContain('6BApk ████████████░░░░░░░░░░░░ 50 %  500 of 1000 vendors, 500/s, 1 s left');
    expect(text.endsWith('\u001b[2K')).toBe(true);
  });

  it('has a shorter bar, or none, where numbers and time left need the room', async () => {
    const steps = [
      [1_000, at(500)],
      [1_000, at(750)],
    ] as const;
    expect(await said(steps, 72)).toMatch(/6BApk [█░]{15} 50 % {2}500 of 1000 vendors, 500\/s, 1 s left/);
    expect(await said(steps, 50)).toContain('6BApk 50 %  500 of 1000 vendors, 500/s, 1 s left');
  });

  it('is lines where the terminal is dumb', async () => {
    expect(await said([[2_000, at(500)]], 80, { TERM: 'dumb' })).not.toContain('\u001b');
  });
});
