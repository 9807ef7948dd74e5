import { describe, expect, it } from 'vitest';
import { judge, sentenceOf, type AccountFacts, type HealthFacts, type Verdict } from '../../../src/health/judge.ts';
import { catalogue } from '../../../src/domain/errors.ts';
import { able, account, before, facts, newAccount, noon, run, target } from '../../support/admin/sample.ts';

function of(
  change: AccountFacts,
  ability = able,
  targets: HealthFacts['targets'] = [],
): Verdict & { readonly details: readonly string[] } {
  const { verdict, process, accounts, installation } = judge({ ...facts([change]), ability, targets }, noon);
  return { ...verdict, details: [...process, ...accounts[0]!.problems, ...installation].map(sentenceOf) };
}

const failing = {
  requests: 7,
  first_at: before(600_000),
  last_at: before(10_000),
  code: 'service_unavailable',
  message: 'The service cannot be reached: connection refused.',
} as const;

describe('the verdict', () => {
  it('names the cause, the time and the remedy if the service does not answer: amber while the mirror is still reliable', () => {
    const found = of(account({ failing }));
    expect(found).toMatchObject({ tone: 'fair', since: failing.first_at });
    expect(found.details).toEqual([
      `The last 7 requests failed, the first at ${failing.first_at.slice(0, 19)} UTC: ${failing.message} ${catalogue.service_unavailable.hint}`,
    ]);
    const old = before(86_400_000);
    const stale = account({ failing, freshness: { ...account().freshness, safe_as_of: old, listed_as_of: old } });
    expect(of(stale)).toMatchObject({ tone: 'bad', since: failing.first_at });
  });

  it.each([
    [1, 'one request to the callback address was refused'],
    [1_200, '1,200 requests to the callback address were refused'],
  ])('L23 says since when requests were refused and nothing was accepted: %s', (recent, words) => {
    const refused = {
      ...{ outcome: 'unsigned', refused: recent, first_at: before(60_000), last_at: before(1_000) },
      ...{ recent, recent_at: before(60_000), detail: null },
    };
    const [first = ''] = of(account({ refused: [refused], lastDelivery: null })).details;
    const since = before(60_000).slice(0, 19);
    const said = `Since ${since} UTC, no delivery was accepted, and ${words}: without a signature that is recognised. `;
    expect(first.slice(0, said.length)).toBe(said);
  });

  it('K18 gives what the last run itself said to do, and advises no further run that would only fail again', () => {
    const runs = [
      run(10, { outcome: 'running' }),
      run(9, { outcome: 'failed', error: 'No.', error_code: 'not_found' }),
    ];
    const old = before(86_400_000);
    const { details } = of(account({ runs, freshness: { ...account().freshness, listed_as_of: old } }));
    expect(details).toEqual([
      'Changes of the last day may be missing; admin.maxStaleness allows 2 h.',
      `The last reconcile failed: No. ${catalogue.not_found.hint}`,
    ]);
  });

  it.each([
    [null, 'Your mirror is correct'],
    [before(60_000), 'Your mirror is correct'],
    ['1970-01-01 00:00:00.000', 'Your mirror is correct but for fields that lists leave out'],
  ])(
    'L14 L77 does not call all correct before what lists leave out was read of each vendor: read up to %s',
    (at, words) => {
      const found = of(account({ freshness: { ...account().freshness, details_as_of: at } }));
      expect(found).toMatchObject({ code: 'correct', tone: 'good', words, details: [] });
    },
  );

  it('shows the progress of a first pull', () => {
    const runs = [run(1, { kind: 'pull', outcome: 'running', finished_at: null })];
    const progress = { page: 120, pages: 1_000, pass: 1, seen: 1_800, total: 15_000 };
    const { details } = of({ ...newAccount('9aaZq'), runs, progress });
    expect(details[0]).toContain(' Page 120 of 1,000, walk 1; 1,800 of 15,000 vendors.');
  });

  it('is amber while a receiver of webhooks needs attention, but not for one that has just failed', () => {
    const down = { failing_since: before(16 * 60_000), last_error: 'hooks.example answered 503.', waiting: 1 };
    expect(of(account(), able, [target(down), target({ target: 'well.example' })])).toMatchObject({
      tone: 'fair',
      details: [
        `hooks.example has accepted nothing since 2026-11-20 11:44:00 UTC: hooks.example answered 503. ${catalogue.receiver_failing.hint}`,
      ],
    });
    const short = target({ ...down, failing_since: before(14 * 60_000) });
    expect(of(account(), able, [short])).toMatchObject({ tone: 'good', details: [] });
  });

  it('reports a problem once, though several facts show it', () => {
    const refused = run(9, { outcome: 'failed', error: 'The service answered 403.', error_code: 'access_denied' });
    const again = { ...failing, code: 'access_denied' };
    expect(of({ ...newAccount('6BApk'), runs: [refused], failing: again }).details).toEqual([
      `The service refuses access (access_denied). The service answered 403. ${catalogue.access_denied.hint}`,
      'No sweep was complete yet.',
    ]);
  });

  it.each<[string, HealthFacts, string[]]>([
    [
      'the run that was refused',
      facts([account({ runs: [run(9, { outcome: 'failed', error: 'No.', error_code: 'access_denied' })] })]),
      ['access_refused'],
    ],
    [
      'a parked vendor, which has also waited for long',
      facts([account({ queue: { waiting: 1, parked: 1 }, oldestMark: before(7_200_000) })]),
      ['vendors_parked'],
    ],
    [
      'a callback of an account that is no longer served, which no daemon is to take deliveries of',
      { ...facts([account({ isLeft: true })]), startedAt: null, ability: { ...able, listening: null } },
      ['not_served'],
    ],
    [
      'a closed listener before anything of an account',
      { ...facts([account({ doubt: 'The machine slept.' })]), ability: { ...able, listening: false } },
      ['listener_closed', 'in_doubt'],
    ],
  ])('reports %s, and what follows from it no second time', (_, given, codes) => {
    const { verdict, process, accounts, installation } = judge(given, noon);
    const found = [...process, ...accounts[0]!.problems, ...installation].map(({ code }) => code);
    expect([verdict.code, found]).toEqual([codes[0], codes]);
  });

  it('puts the account in most need of a person first, those that are not served last', () => {
    const { freshness } = account();
    const health = judge(
      facts([
        account({ account: 'paused', freshness: { ...freshness, paused_since: before(1) } }),
        account({ account: 'good' }),
        account({ account: 'fair', queue: { waiting: 0, parked: 1 } }),
        account({ account: 'bad', doubt: 'The machine slept.' }),
      ]),
      noon,
    );
    expect(health.bySeverity.map(({ facts: { account: id } }) => id)).toEqual(['bad', 'fair', 'good', 'paused']);
  });

  it('says that no account is served where there is none', () => {
    expect(judge(facts([]), noon).verdict.words).toBe('No account is served');
  });
});
