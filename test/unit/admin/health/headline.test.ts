import { describe, expect, it } from 'vitest';
import type { AccountFacts, HealthFacts } from '../../../../src/admin/health/health.ts';
import { headline, progressWords, type Headline } from '../../../../src/admin/health/headline.ts';
import { examineHealth } from '../../../../src/admin/health/readiness.ts';
import { catalogue } from '../../../../src/domain/errors.ts';
import { able, account, before, facts, newAccount, noon, run, target } from '../../../support/admin/sample.ts';

const clock = { yield: () => Promise.resolve() };

async function of(change: AccountFacts, ability = able, targets: HealthFacts['targets'] = []): Promise<Headline> {
  const given = { ...facts([change]), ability, targets };
  const health = await examineHealth(given, { now: noon, maxStaleness: 7_200_000 }, clock);
  return headline(health.accounts[0]!, health);
}

const failing = {
  requests: 7,
  first_at: before(600_000),
  last_at: before(10_000),
  code: 'service_unavailable',
  message: 'The service cannot be reached: connection refused.',
} as const;

describe('the headline', () => {
  it('is green if nothing is wrong', async () => {
    expect(await of(account())).toEqual({ tone: 'good', words: 'Your mirror is correct', since: null, details: [] });
  });

  it('names the cause, the time and the remedy if the service does not answer: amber while the mirror is still reliable', async () => {
    const found = await of(account({ failing }));
    expect(found).toMatchObject({ tone: 'fair', since: failing.first_at });
    expect(found.details).toEqual([failing.message, catalogue.service_unavailable.hint]);
    const old = before(86_400_000);
    const stale = account({ failing, freshness: { ...account().freshness, safe_as_of: old, listed_as_of: old } });
    expect(await of(stale)).toMatchObject({ tone: 'bad', since: failing.first_at });
  });

  it('is red with a remedy if access is refused', async () => {
    const refused = run(9, { outcome: 'failed', error: 'The service answered 403.', error_code: 'access_denied' });
    expect(await of(account({ runs: [refused] }))).toMatchObject({
      tone: 'bad',
      words: 'The service refuses access',
      details: ['The service answered 403.', catalogue.access_denied.hint],
    });
  });

  it('shows the progress of a first pull', async () => {
    const runs = [run(1, { kind: 'pull', outcome: 'running', finished_at: null })];
    const progress = { page: 120, pages: 1_000, pass: 1, seen: 1_800, total: 15_000 };
    const found = await of({ ...newAccount('9aaZq'), runs, progress });
    expect(found).toMatchObject({ tone: 'busy', words: 'The first pull is under way' });
    expect(found.details[0]).toBe('Page 120 of 1,000, walk 1; 1,800 of 15,000 vendors.');
    expect(progressWords(null)).toBe('Waiting for the first answer of the service.');
  });

  it.each<[string, Partial<AccountFacts>, string]>([
    [
      'a run that was not complete',
      { runs: [run(9, { outcome: 'incomplete', error: 'Page 3 was cut off.' })] },
      'Page 3 was cut off.',
    ],
    ['an open breaker', { findings: [{ kind: 'breaker', count: 1 }] }, '--approve-absences N'],
    ['parked vendors', { queue: { waiting: 0, parked: 2 } }, '2 changed vendors could not be read'],
    ['silence', { watchdog: 'silent' }, 'no delivery announced'],
    ['an unverified callback', { freshness: { ...account().freshness, callback_verified: 0 } }, 'vendor-mirror doctor'],
  ])('is amber for %s, and says what to do', async (_, change, words) => {
    const found = await of(account(change));
    expect(found.tone).toBe('fair');
    expect(found.details.join(' ')).toContain(words);
  });

  it('is amber while a receiver of webhooks needs attention, but not for one that has just failed', async () => {
    const failing = { failing_since: before(16 * 60_000), last_error: 'hooks.example answered 503.', waiting: 1 };
    const down = await of(account(), able, [target(failing), target({ target: 'well.example' })]);
    expect(down.tone).toBe('fair');
    expect(down.details).toEqual([
      `hooks.example has accepted nothing since 2026-11-20 11:44:00 UTC: hooks.example answered 503. ${catalogue.receiver_failing.hint}`,
    ]);
    const short = target({ ...failing, failing_since: before(14 * 60_000) });
    expect(await of(account(), able, [short])).toMatchObject({ tone: 'good', details: [] });
  });

  it('is red if the mirror is in doubt or cannot be written', async () => {
    expect(await of(account({ doubt: 'The machine slept for 6 h.' }))).toMatchObject({
      tone: 'bad',
      details: ['The machine slept for 6 h.'],
    });
    expect(await of(account(), { ...able, trouble: '/m.db is not writable.' })).toMatchObject({
      tone: 'bad',
      details: ['/m.db is not writable.'],
    });
  });
});
