import { describe, expect, it } from 'vitest';
import type { AccountFacts, HealthFacts } from '../../../src/health/judge.ts';
import { startAdmin, type Admin } from '../../support/admin/admin-requests.ts';
import { account, before, facts, newAccount, run, target } from '../../support/admin/sample.ts';

/** The samples of a scrape, by name and labels. */
async function scrape({ ask }: Admin): Promise<Map<string, number>> {
  const { status, body, headers } = await ask('/metrics');
  expect(status).toBe(200);
  expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  const lines = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

const withFacts = (given: HealthFacts): Promise<Admin> => startAdmin({}, () => Promise.resolve(given));

describe('/metrics', () => {
  it('says how far each target of outgoing webhooks is, and counts attempts', async () => {
    const late = target({ disabled_at: before(0), waiting: 3, parked: 2, behind: 7, oldest_waiting: before(90_000) });
    const admin = await withFacts({ ...facts(), targets: [late] });
    admin.metrics.notified('hooks.example', 'failed');
    const samples = await scrape(admin);
    const of = (name: string) => samples.get(`vendor_mirror_notify_${name}{target="hooks.example"}`);
    expect(['lag_seconds', 'waiting', 'parked', 'disabled'].map(of)).toEqual([90, 3, 2, 1]);
    expect(samples.get('vendor_mirror_notify_attempts_total{target="hooks.example",outcome="failed"}')).toBe(1);
    expect(JSON.parse((await admin.ask('/api/status')).body)).toMatchObject({
      notify: [{ target: 'hooks.example', lag_seconds: 90, waiting: 3, parked: 2 }],
    });
  });

  it('counts deliveries, requests, runs and findings', async () => {
    const admin = await startAdmin();
    admin.metrics.delivery('accepted', 12);
    admin.metrics.delivery('accepted', 3);
    admin.metrics.delivery('wrong_signature', 1);
    admin.metrics.request({ family: 'vendors', method: 'GET', status: 200, ms: 40 });
    admin.metrics.request({ family: 'vendors', method: 'GET', status: 'error', ms: 30_000 });
    admin.metrics.run({ kind: 'reconcile', outcome: 'complete', pages: 17, seconds: 14 });
    admin.metrics.finding('missed_update', 3);
    const samples = await scrape(admin);
    expect(samples.get('vendor_mirror_deliveries_total{outcome="accepted"}')).toBe(2);
    expect(samples.get('vendor_mirror_deliveries_total{outcome="wrong_signature"}')).toBe(1);
    expect(samples.get('vendor_mirror_delivery_answer_seconds_bucket{le="0.005",outcome="accepted"}')).toBe(1);
    expect(samples.get('vendor_mirror_delivery_answer_seconds_sum{outcome="accepted"}')).toBeCloseTo(0.015);
    expect(samples.get('vendor_mirror_requests_total{family="vendors",method="GET",status="200"}')).toBe(1);
    expect(samples.get('vendor_mirror_requests_total{family="vendors",method="GET",status="error"}')).toBe(1);
    expect(samples.get('vendor_mirror_request_duration_seconds_count{family="vendors"}')).toBe(2);
    expect(samples.get('vendor_mirror_runs_total{kind="reconcile",outcome="complete"}')).toBe(1);
    expect(samples.get('vendor_mirror_run_duration_seconds_sum{kind="reconcile"}')).toBe(14);
    expect(samples.get('vendor_mirror_pages_total{kind="reconcile"}')).toBe(17);
    expect(samples.get('vendor_mirror_findings_total{kind="missed_update"}')).toBe(3);
  });

  it('measures the mirror and the process at each scrape', async () => {
    const samples = await scrape(await startAdmin());
    const of = (name: string): number | undefined => samples.get(`vendor_mirror_${name}`);
    expect(of('info{version="0.1.0"}')).toBe(1);
    expect(of('ready{account="6BApk"}')).toBe(1);
    expect(of('staleness_seconds{account="6BApk"}')).toBe(140);
    expect(of('queue_vendors{account="6BApk"}')).toBe(3);
    expect(of('account_queue_oldest_seconds{account="6BApk"}')).toBe(9);
    expect(of('parked_vendors{account="6BApk"}')).toBe(0);
    expect(of('open_suspects{account="6BApk"}')).toBe(0);
    expect(of('callback_verified{account="6BApk"}')).toBe(1);
    expect(of('watchdog_silent{account="6BApk"}')).toBe(0);
    expect(of('last_delivery_age_seconds{account="6BApk"}')).toBe(5);
    expect(of('database_bytes')).toBe(18_432_000);
    expect(of('wal_bytes')).toBe(412_000);
    expect(of('resident_memory_bytes')).toBe(96_400_000);
    expect(of('event_loop_lag_seconds')).toBe(0.0112);
    expect(of('start_time_seconds')).toBe(Date.UTC(2026, 10, 8, 12) / 1_000);
  });

  it('leaves out an age that is not known', async () => {
    const samples = await scrape(await withFacts(facts([newAccount('9aaZq')])));
    expect(samples.has('vendor_mirror_staleness_seconds{account="9aaZq"}')).toBe(false);
    expect(samples.has('vendor_mirror_last_delivery_age_seconds{account="9aaZq"}')).toBe(false);
    expect(samples.get('vendor_mirror_account_queue_oldest_seconds{account="9aaZq"}')).toBe(0);
    expect(samples.get('vendor_mirror_ready{account="9aaZq"}')).toBe(0);
  });

  it('leaves out the free space of a disk that is not of this machine, which would look like none', async () => {
    const sample = facts([account({})]);
    const elsewhere = { ...sample, ability: { ...sample.ability, diskFreeBytes: Infinity } };
    expect((await scrape(await withFacts(elsewhere))).has('vendor_mirror_disk_free_bytes')).toBe(false);
  });

  it('K19 always has the totals of all accounts, however many there are', async () => {
    const refused = account({
      account: 'refused',
      runs: [run(8, { outcome: 'failed', error: 'No.', error_code: 'unauthenticated' })],
      queue: { waiting: 0, parked: 2 },
      oldestMark: before(7_200_000),
    });
    const fine = (count: number): AccountFacts[] =>
      Array.from({ length: count }, (_, index) => account({ account: `a${index}` }));
    for (const count of [1, 1_000]) {
      const samples = await scrape(await withFacts(facts([...fine(count), newAccount('new'), refused])));
      const of = (name: string): number | undefined => samples.get(`vendor_mirror_${name}`);
      expect(of('accounts')).toBe(count + 2);
      expect(of('accounts_stale')).toBe(1);
      expect(of('staleness_max_seconds')).toBe(12 * 86_400);
      expect(of('last_run_failed{account="refused",code="unauthenticated"}')).toBe(1);
      expect(of('queue_oldest_seconds')).toBe(7_200);
      expect(of('parked')).toBe(2);
      expect(of('disk_free_bytes')).toBe(91_000_000_000);
      expect(of('process_ready')).toBe(1);
      expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(0);
      expect(samples.has('process_start_time_seconds')).toBe(true);
    }
  });

  it('K19 names the fifty accounts that most need attention', async () => {
    const fine = Array.from({ length: 200 }, (_, index) => account({ account: `a${index}` }));
    const samples = await scrape(
      await withFacts(facts([...fine, newAccount('new'), account({ account: 'b', doubt: 'Slept.' })])),
    );
    const named = [...samples.keys()].filter((key) => key.startsWith('vendor_mirror_ready'));
    expect(named).toHaveLength(50);
    expect(named.slice(0, 2)).toEqual(['vendor_mirror_ready{account="b"}', 'vendor_mirror_ready{account="new"}']);
  });

  it('names everything of ours vendor_mirror_…, and explains it', async () => {
    const { ask } = await startAdmin();
    const { body } = await ask('/metrics');
    const named = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].filter(
      ([, name]) => !/^(process|nodejs)_/.test(name ?? ''),
    );
    expect(named.length).toBeGreaterThan(20);
    for (const [, name, type] of named) {
      expect(name).toMatch(/^vendor_mirror_/);
      expect(name?.endsWith('_total')).toBe(type === 'counter');
      expect(body).toMatch(new RegExp(`^# HELP ${String(name)} .+\\.$`, 'm'));
    }
  });
});
