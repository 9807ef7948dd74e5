/** The alert rules and the dashboard for Prometheus, run by Prometheus on what the program really shows. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { judge, type HealthFacts, type ProblemCode } from '../../../src/health/judge.ts';
import { startAdmin } from '../../support/admin/admin-requests.ts';
import { folder, missingPrometheus, prometheus } from '../../support/admin/prometheus.ts';
import {
  able,
  account,
  before,
  daemon,
  facts,
  newAccount,
  noon,
  published,
  run,
  target,
} from '../../support/admin/sample.ts';
import { packageRoot } from '../../support/mirror-file.ts';
import { isMissing } from '../../support/needed.ts';

const rules = join(packageRoot, 'config/prometheus/alerts.yaml');
const names = (parse(readFileSync(rules, 'utf8')) as { groups: { rules: { alert: string }[] }[] }).groups.flatMap(
  (group) => group.rules.map(({ alert }) => alert),
);

/** How a sample changes in the hours after the scrape, in promtool's notation; undefined: it does not change. */
type Course = (name: string, value: number) => string | undefined;

const failing = (code: string): HealthFacts =>
  facts([
    account({
      failing: { requests: 40, first_at: before(7_200_000), last_at: before(1_000), code, message: 'No answer.' },
      freshness: { ...account().freshness, listed_as_of: before(8_000_000) },
      oldestMark: before(7_200_000),
    }),
  ]);
const ended = (error_code: string, more: Parameters<typeof account>[0] = {}): HealthFacts =>
  facts([account({ runs: [run(9, { outcome: 'failed', error: 'It failed.', error_code })], ...more })]);
const old = { ...account().freshness, listed_as_of: before(90_000_000) };

/** Refused at each run, all by one dead token. */
const refusedAccounts = Array.from({ length: 60 }, (_, index) =>
  account({
    ...{ account: `a${index}`, freshness: old, oldestMark: before(7_200_000) },
    runs: [run(9, { outcome: 'failed', error: 'It failed.', error_code: 'unauthenticated' })],
  }),
);
const dead = {
  requests: 2,
  first_at: before(7_200_000),
  last_at: before(1),
  code: 'token_refresh_failed',
  message: 'No.',
};
const refusedRun = [run(9, { outcome: 'failed', error: 'It failed.', error_code: 'answer_too_large' })];
const unclear = { ...account().freshness, listed_as_of: null, safe_as_of: null };

/** The alert of each problem that a judgement may find; null where none is due, and why. */
const alertOf: Readonly<Record<ProblemCode, string | null>> = {
  listener_closed: 'VendorMirrorNotReady',
  cannot_store: 'VendorMirrorNotReady',
  other_service: null, // no daemon serves it
  not_served: null, // a person removed it
  paused: null, // a person paused it
  access_refused: 'VendorMirrorTokenDead',
  connection_refused: 'VendorMirrorTokenDead',
  service_failing: 'VendorMirrorServiceDown',
  first_pull: null, // it is under way
  never_mirrored: 'VendorMirrorStale',
  clock_wrong: 'VendorMirrorStale',
  clock_set_back: 'VendorMirrorStale',
  stale: 'VendorMirrorStale',
  in_doubt: 'VendorMirrorStale',
  mirror_differs: null, // a person compared; the next complete run ends it
  last_run: null, // the next one may be complete; if none is, the mirror becomes stale
  absences_waiting: 'VendorMirrorBreakerWaiting',
  token_sees_less: 'VendorMirrorNotAllKnown',
  absences_unproven: 'VendorMirrorNotAllKnown',
  vendors_undecided: 'VendorMirrorNotAllKnown',
  values_unreadable: 'VendorMirrorNotAllKnown',
  fields_unsent: 'VendorMirrorNotAllKnown',
  callback_unverified: 'VendorMirrorCallbackUnverified',
  deliveries_refused: 'VendorMirrorDeliveriesRefused',
  address_known: 'VendorMirrorAddressKnown',
  callbacks_unknown: 'VendorMirrorCallbackUnknown',
  deliveries_silent: 'VendorMirrorWebhookSilent',
  vendors_parked: 'VendorMirrorQueueStuck',
  queue_stuck: 'VendorMirrorQueueStuck',
  no_daemon: null, // nobody is there to be scraped: VendorMirrorDown
  nobody_works: 'VendorMirrorRoleVacant',
  nobody_listens: 'VendorMirrorRoleVacant',
  disk_low: 'VendorMirrorDiskFilling',
  listener_moved: null, // a warning until the first delivery; if none comes though changes are found, VendorMirrorWebhookSilent
  receiver_gone: 'VendorMirrorNotifyStuck',
  receiver_failing: 'VendorMirrorNotifyStuck',
  changes_given_up: 'VendorMirrorNotifyStuck',
  receiver_unknown: null, // a person removed it, and nothing is sent to it
  publication_failing: 'VendorMirrorPublicationFailing',
  publication_late: 'VendorMirrorPublicationFailing',
};

/** Each drill: what the program knows of the day, and the one alert that must fire. */
const drills: readonly [title: string, alert: string, given: HealthFacts, course?: Course][] = [
  ['the daemon is down', 'VendorMirrorDown', facts([account()]), (name) => (name === 'up' ? '0x240' : undefined)],
  [
    'the mirror file cannot be written',
    'VendorMirrorNotReady',
    {
      ...facts(),
      ability: { ...able, trouble: { code: 'file_unwritable', message: 'The mirror cannot be written.' } },
    },
  ],
  [
    'L97 the listener is closed, on a small disk',
    'VendorMirrorNotReady',
    { ...facts(), ability: { ...able, listening: false, diskFreeBytes: 2e9 } },
  ],
  [
    'L97 the disk is so full that deliveries are refused, and the mirror grows old',
    'VendorMirrorNotReady',
    {
      ...facts([account({ freshness: old, oldestMark: before(7_200_000) })]),
      ability: { ...able, diskFreeBytes: 2 ** 20, trouble: { code: 'disk_full', message: 'The disk is full.' } },
    },
  ],
  [
    'of several daemons, none works',
    'VendorMirrorRoleVacant',
    { ...facts(), serving: [{ ...daemon, works: false, may_work: false }] },
  ],
  [
    'of several daemons, none listens',
    'VendorMirrorRoleVacant',
    { ...facts(), serving: [{ ...daemon, listens: false }] },
  ],
  ['L97 one dead token gives no access to sixty accounts', 'VendorMirrorTokenDead', facts(refusedAccounts)],
  [
    'L97 one of two connections gives no access, and its accounts were not read since',
    'VendorMirrorTokenDead',
    {
      ...facts(),
      connections: [
        { connection: 'default', accounts: 1, failing: null },
        { connection: 'other', accounts: 1, failing: { ...dead, connection: 'other' } },
      ],
    },
  ],
  ['L97 the first run failed', 'VendorMirrorStale', facts([{ ...newAccount('6BApk'), runs: refusedRun }])],
  ['L97 the clock is wrong', 'VendorMirrorStale', facts([account({ freshness: unclear, clockAheadMs: 7_200_000 })])],
  ['L97 the clock was set back', 'VendorMirrorStale', facts([account({ freshness: unclear })])],
  ['L97 the machine slept', 'VendorMirrorStale', facts([account({ doubt: 'The machine slept for 6 h.' })])],
  [
    'L97 absences wait for a person',
    'VendorMirrorBreakerWaiting',
    facts([account({ findings: [{ kind: 'breaker', count: 1 }] })]),
  ],
  ['L97 the token may see less', 'VendorMirrorNotAllKnown', facts([account({ withheldAbsences: 4 })])],
  ['L97 absences are not proven', 'VendorMirrorNotAllKnown', facts([account({ unprovenAbsences: 2 })])],
  [
    'L97 a vendor cannot be read',
    'VendorMirrorNotAllKnown',
    facts([
      account({
        freshness: { ...account().freshness, undecided: 1 },
        undecided: [{ vendorid: 1006, since: before(3_600_000), code: 'service_unavailable', error: 'It failed.' }],
      }),
    ]),
  ],
  [
    'L97 values cannot be read',
    'VendorMirrorNotAllKnown',
    facts([account({ unreadable: [{ field: 'phone', vendors: 3 }] })]),
  ],
  [
    'L97 a field is no longer sent',
    'VendorMirrorNotAllKnown',
    facts([account({ unsent: [{ field: 'outstanding_balance', since: before(3_600_000) }] })]),
  ],
  [
    'L97 vendors are parked',
    'VendorMirrorQueueStuck',
    facts([account({ queue: { waiting: 0, parked: 2 }, oldestMark: before(7_200_000) })]),
  ],
  ['the service is down', 'VendorMirrorServiceDown', failing('service_unreachable')],
  ['the token is dead', 'VendorMirrorTokenDead', ended('unauthenticated', { freshness: old })],
  ['the token died between two runs', 'VendorMirrorTokenDead', failing('token_refresh_failed')],
  ['the disk is full', 'VendorMirrorDiskFilling', { ...facts(), ability: { ...able, diskFreeBytes: 2 ** 20 } }],
  [
    'the disk fills within a day',
    'VendorMirrorDiskFilling',
    facts([account()]),
    (name) => (name === 'vendor_mirror_disk_free_bytes' ? '50e9-50e6x480' : undefined),
  ],
  [
    'L93 the service does not register the callback',
    'VendorMirrorCallbackUnverified',
    facts([account({ callbacks: [], freshness: { ...account().freshness, callback_verified: null } })]),
  ],
  [
    'L97 the callback is not verified',
    'VendorMirrorCallbackUnverified',
    facts([account({ freshness: { ...account().freshness, callback_verified: 0 } })]),
  ],
  [
    'L23 webhooks are refused',
    'VendorMirrorDeliveriesRefused',
    facts([
      account({
        ...{ missedSince: 3, lastDelivery: before(3_600_000) },
        refused: [
          {
            ...{ outcome: 'wrong_signature', refused: 60, first_at: before(3_600_000), last_at: before(1_000) },
            ...{ recent: 60, recent_at: before(3_600_000), detail: null },
          },
        ],
      }),
    ]),
  ],
  [
    'L52 strangers know the address of the callback',
    'VendorMirrorAddressKnown',
    facts([
      account({
        refused: [
          {
            ...{ outcome: 'wrong_code', refused: 12, first_at: before(3_600_000), last_at: before(1_000) },
            ...{ recent: 12, recent_at: before(3_600_000), detail: null },
          },
        ],
      }),
    ]),
  ],
  [
    'L104 a callback of lost secrets leads here',
    'VendorMirrorCallbackUnknown',
    facts([account({ unknownCallbacks: [{ callbackid: 2000, found_at: before(7_200_000) }] })]),
  ],
  [
    'webhooks are silent',
    'VendorMirrorWebhookSilent',
    facts([account({ missedSince: 3, lastDelivery: before(3_600_000) })]),
  ],
  ['the mirror is stale', 'VendorMirrorStale', facts([account({ freshness: old })])],
  ['the queue is stuck', 'VendorMirrorQueueStuck', facts([account({ oldestMark: before(7_200_000) })])],
  [
    'the process starts again and again',
    'VendorMirrorFlapping',
    facts([account()]),
    (name, value) => (name === 'vendor_mirror_start_time_seconds' ? `${value}+60x480` : undefined),
  ],
  [
    'a receiver refuses some messages',
    'VendorMirrorNotifyStuck',
    { ...facts(), targets: [target({ parked: 2 }), target({ target: 'well.example' })] },
  ],
  [
    'a receiver wants no more',
    'VendorMirrorNotifyStuck',
    { ...facts(), targets: [target({ disabled_at: before(9_000), oldest_waiting: before(7_200_000), parked: 1 })] },
  ],
  [
    'a receiver is down',
    'VendorMirrorNotifyStuck',
    { ...facts(), targets: [target({ failing_since: before(7_200_000), oldest_waiting: before(7_200_000) })] },
  ],
  [
    'L79 a copy for readers cannot be written',
    'VendorMirrorPublicationFailing',
    { ...facts(), publications: [published({ failing_since: before(3_600_000), code: 'disk_full' })] },
  ],
  [
    'L61 a copy for readers is held up by another',
    'VendorMirrorPublicationFailing',
    { ...facts(), publications: [published({ behind_since: before(3_600_000) })] },
  ],
  ['the breaker waits', 'VendorMirrorBreakerWaiting', ended('breaker_tripped', { freshness: old })],
];

/** The scrape of such a day as input series of promtool, four hours long. */
async function series(given: HealthFacts, course: Course = () => undefined): Promise<object[]> {
  const { ask } = await startAdmin({}, () => Promise.resolve(given));
  const { body } = await ask('/metrics');
  const samples = body
    .split('\n')
    .filter((line) => line.startsWith('vendor_mirror_'))
    .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))] as const);
  return [...samples, ['up', 1] as const].map(([name, value]) => {
    const [, metric = '', labels = ''] = /^([^{]+)(?:\{(.*)\})?$/.exec(name) ?? [];
    const all = [labels, 'job="vendor-mirror"', 'instance="127.0.0.1:8788"'].filter((label) => label !== '');
    return { series: `${metric}{${all.join(',')}}`, values: course(metric, value) ?? `${value}x240` };
  });
}

describe.skipIf(isMissing(missingPrometheus()))('the alert rules (L23, L61, L79, L93, L97, L104 among them)', () => {
  const firing = 'count by (alertname) (ALERTS{alertstate="firing"})';

  function promtool(tests: readonly object[], evaluation_interval = '1m'): void {
    const file = join(folder(), 'drills.json');
    writeFileSync(file, JSON.stringify({ rule_files: [rules], evaluation_interval, tests }));
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
    expect(`${status} ${stdout}${stderr}`).toMatch(/^0 /);
  }

  it('do not fire on a good day', async () => {
    const expectation = { expr: firing, eval_time: '3h', exp_samples: [] };
    promtool([
      {
        interval: '1m',
        input_series: await series({ ...facts(), targets: [target()], publications: [published()] }),
        promql_expr_test: [expectation],
      },
    ]);
  });

  it('L97 are quiet for a month on a healthy account, while a backup takes disk each night and is removed', async () => {
    const night = Array.from({ length: 96 }, (_, slot) => (slot >= 8 && slot < 16 ? 40e9 : 60e9));
    const weeks = Array.from({ length: 5 }, (_, week) => `${1_780_000_000 + week * 604_800}x671`);
    const quiet: Course = (name, value) => {
      if (name === 'vendor_mirror_disk_free_bytes')
        return `60e9x95 ${Array.from({ length: 29 }, () => night.join(' ')).join(' ')}`;
      if (name === 'vendor_mirror_start_time_seconds') return weeks.join(' ');
      return `${value}x2880`;
    };
    const given = { ...facts(), targets: [target()], publications: [published()] };
    const fired = 'count by (alertname) (count_over_time(ALERTS{alertstate="firing"}[30d]))';
    promtool(
      [
        {
          interval: '15m',
          input_series: await series(given, quiet),
          promql_expr_test: [{ expr: fired, eval_time: '30d', exp_samples: [] }],
        },
      ],
      '15m',
    );
  });

  it.each(drills)('fire on a day when %s: %s and no other', async (_, alertname, given, course) => {
    const expectation = {
      expr: firing,
      eval_time: '3h',
      exp_samples: [{ labels: `{alertname="${alertname}"}`, value: 1 }],
    };
    promtool([{ interval: '1m', input_series: await series(given, course), promql_expr_test: [expectation] }]);
  });

  it('L97 fire within five minutes where deliveries cannot be stored', async () => {
    const given = {
      ...facts(),
      ability: {
        ...able,
        diskFreeBytes: 2 ** 20,
        trouble: { code: 'disk_full' as const, message: 'The disk is full.' },
      },
    };
    const exp_samples = [{ labels: '{alertname="VendorMirrorNotReady"}', value: 1 }];
    const expectation = { expr: firing, eval_time: '5m', exp_samples };
    promtool([{ interval: '1m', input_series: await series(given), promql_expr_test: [expectation] }]);
  });

  it('L97 have a drill for each problem that needs one, and none for another', () => {
    const drilled = new Set<string>();
    for (const [title, alert, given] of drills) {
      const { process, installation, accounts } = judge(given, noon);
      const found = [...process, ...installation, ...accounts.flatMap(({ problems }) => problems)];
      const due = found.map(({ code }) => code).filter((code) => alertOf[code] === alert);
      for (const code of due) drilled.add(code);
      if (found.length > 0 && !title.includes('disk'))
        expect([title, due.length > 0 || alert.endsWith('Waiting')]).toEqual([title, true]);
    }
    const needed = Object.entries(alertOf).flatMap(([code, alert]) => (alert === null ? [] : [code]));
    expect([...drilled].sort()).toEqual(needed.sort());
  });

  it('have a drill each, and a paragraph in the runbook', () => {
    expect([...new Set(drills.map(([, alert]) => alert))].sort()).toEqual([...names].sort());
    const runbook = readFileSync(join(packageRoot, 'config/RUNBOOK.md'), 'utf8');
    expect(names.filter((name) => !runbook.includes(`**\`${name}\`.**`))).toEqual([]);
  });
});

describe.skipIf(isMissing(missingPrometheus()))('the dashboard', () => {
  it('queries only metrics that a scrape has', async () => {
    const { panels } = JSON.parse(readFileSync(join(packageRoot, 'config/grafana/dashboard.json'), 'utf8')) as {
      panels: { title: string; targets: { expr: string }[] }[];
    };
    const admin = await startAdmin({}, () =>
      Promise.resolve({
        ...facts([
          account({
            runs: [run(9, { outcome: 'failed', error: 'No.', error_code: 'unauthenticated' })],
            failing: {
              requests: 2,
              first_at: before(9_000),
              last_at: before(1_000),
              code: 'unauthenticated',
              message: 'No.',
            },
          }),
        ]),
        targets: [target()],
      }),
    );
    admin.metrics.delivery('accepted', 12);
    admin.metrics.request({ family: 'vendors', method: 'GET', status: 200, ms: 40 });
    admin.metrics.run({ kind: 'reconcile', outcome: 'complete', pages: 17, seconds: 14 });
    admin.metrics.finding('missed_update', 3);
    admin.metrics.notified('hooks.example', 'accepted');
    const { query } = await prometheus(async () => (await admin.ask('/metrics')).body);
    for (const { title, targets } of panels)
      for (const { expr } of targets) {
        const asked = expr.replaceAll(/\$(instance|account)/g, '.*').replaceAll('$__rate_interval', '1m');
        expect([title, (await query(asked)).length]).not.toEqual([title, 0]);
      }
  });
});
