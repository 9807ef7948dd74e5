import { describe, expect, it } from 'vitest';
import { judge, type AccountFacts } from '../../../src/health/judge.ts';
import { summaryLines, type SummaryOptions, LiveSummary, wantsSummary } from '../../../src/cmd/live-summary.ts';
import type { ProcessContext } from '../../../src/cmd/process/process-context.ts';
import { account, facts, newAccount, noon, run } from '../../support/admin/sample.ts';
import { screenOf } from '../../support/screen/screen.ts';
import { collector } from '../../support/testbed/command.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const place = { dashboard: 'http://127.0.0.1:8788' };

async function lines(accounts: AccountFacts[], columns = 100, more: Partial<SummaryOptions> = {}): Promise<string[]> {
  const health = judge(facts(accounts), noon);
  const { stream } = collector(columns);
  const options = { ...place, entries: [], room: 29, ...more };
  return summaryLines({ stdout: stream, env: { NO_COLOR: '1' } }, health, options);
}

describe('the live summary', () => {
  it('shows whether the mirror is correct, the state of each account, the last events, the dashboard and how to stop', async () => {
    const text = (await lines([account()], 100, { entries: ['11:59:58 vendor 7 was archived'] })).join('\n');
    for (const words of [
      /^Your mirror is correct as of 11:57:40 UTC, 2 min ago\.$/m,
      /^account +active +as of +queue +last delivery +now$/m,
      /^6BApk +1,602 +2 min ago +3 +5 s ago +reconcile: page 1$/m,
      /^11:59:58 vendor 7 was archived$/m,
      /^ {2}dashboard {3}http:\/\/127\.0\.0\.1:8788$/m,
      /^ {2}stop +Ctrl-C$/m,
    ])
      expect(text).toMatch(words);
  });

  it('shows how far a first pull has come', async () => {
    const progress = { page: 120, pages: 1_000, pass: 1, seen: 12_000, total: 100_000 };
    const first = {
      ...newAccount('6BApk'),
      runs: [run(1, { kind: 'pull', outcome: 'running', finished_at: null })],
      progress,
    };
    const text = (await lines([first])).join('\n');
    expect(text).toMatch(
      /^The first pull is under way, since .+\n {2}No sweep was .+ Page 120 of 1,000, walk 1; 12,000\s+of 100,000 vendors\.$/m,
    );
    expect(text).toContain('pull: page 120 of 1,000');
  });

  it('leaves out columns on a narrow terminal, and accounts on a low one; no line is wider than the terminal', async () => {
    const accounts = Array.from({ length: 40 }, (_, index) => account({ account: `account${index}` }));
    for (const columns of [40, 60, 80, 200]) {
      const shown = await lines(accounts, columns, { entries: ['12:00:00 ' + 'word '.repeat(60)], room: 20 });
      expect(shown.filter((line) => line.length > columns)).toEqual([]);
      expect(shown.length).toBeLessThanOrEqual(20);
      expect(shown.join('\n').includes('last delivery')).toBe(columns >= 80);
      expect(shown.join('\n')).toMatch(/and 3\d accounts more/);
    }
  });

  it('keeps warnings above it, and leaves one line when it ends', async () => {
    const clock = virtualClock({ start: noon });
    const { stream, text } = collector(100);
    const context = { stdout: stream, env: { NO_COLOR: '1' }, clock } as unknown as ProcessContext;
    const summary = new LiveSummary(context);
    summary.watch({ facts: () => Promise.resolve(facts()), ability: () => facts().ability }, place.dashboard);
    await clock.waiting();
    const time = '2026-11-20T12:00:00.000Z';
    summary.entry({ level: 30, time, msg: 'vendor 7 was archived' }, 'not shown so\n');
    summary.entry({ level: 40, time, msg: 'a warning' }, '[12:00:00] WARN: a warning\n');
    await clock.advance(1_000);
    await clock.waiting();
    const screen = screenOf(text());
    expect(screen.slice(0, 2)).toEqual([
      '[12:00:00] WARN: a warning',
      expect.stringMatching(/^Your mirror is correct/),
    ]);
    expect(screen).toContain('12:00:00 vendor 7 was archived');
    summary.stopping();
    summary.end(true);
    await clock.advance(60_000);
    expect(screenOf(text())).toEqual([
      '[12:00:00] WARN: a warning',
      'Stopped. The mirror holds every change up to 2026-11-20 11:57:40 UTC.',
      '',
    ]);
  });

  it('is wanted where both streams are a terminal, and neither a log nor JSON was asked for', () => {
    const context = (out: boolean, err: boolean, env = {}) =>
      ({ stdout: { isTTY: out }, stderr: { isTTY: err }, env }) as unknown as ProcessContext;
    expect(wantsSummary(context(true, true), {})).toBe(true);
    expect(wantsSummary(context(true, false), {})).toBe(false);
    expect(wantsSummary(context(false, true), {})).toBe(false);
    expect(wantsSummary(context(true, true, { TERM: 'dumb' }), {})).toBe(false);
    expect(wantsSummary(context(true, true), { logLevel: 'info' })).toBe(false);
    expect(wantsSummary(context(true, true), { json: true })).toBe(false);
  });
});
