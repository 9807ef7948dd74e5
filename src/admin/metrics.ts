/**
 * Metrics for Prometheus, measured at each scrape. Labels have few values each; account ids are labels of the first fifty accounts only.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { AttemptFacts } from '../api/caller.ts';
import { parseInstant } from '../domain/clock.ts';
import type { AccountHealth, Health, TargetStatus } from '../health/judge.ts';
import { isPaused } from '../health/status-document.ts';
import type { RunKind } from '../domain/run.ts';
import type { FindingKind } from '../store/sqlite/schema.ts';

interface RunFacts {
  readonly kind: RunKind;
  readonly outcome: string;
  readonly pages: number;
  readonly seconds: number;
}

/** A delivery must be answered within ten seconds. */
const answerBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const requestBuckets = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const runBuckets = [1, 5, 15, 60, 300, 900, 3_600, 14_400];

export class Metrics {
  readonly #registry = new Registry();
  readonly #deliveries: Counter<'outcome'>;
  readonly #answers: Histogram<'outcome'>;
  readonly #requests: Counter<'family' | 'method' | 'status'>;
  readonly #requestTimes: Histogram<'family'>;
  readonly #runs: Counter<'kind' | 'outcome'>;
  readonly #runTimes: Histogram<'kind'>;
  readonly #pages: Counter<'kind'>;
  readonly #findings: Counter<'kind'>;
  readonly #notified: Counter<'target' | 'outcome'>;
  readonly #wrongTokens: Counter;
  readonly #setGauges: (health: Health) => void;
  readonly #setTargets: (health: Health) => void;
  readonly #setPublications: (health: Health) => void;

  constructor() {
    const registers = [this.#registry];
    this.#deliveries = new Counter({
      name: 'vendor_mirror_deliveries_total',
      help: 'Requests to the listener, by outcome.',
      labelNames: ['outcome'],
      registers,
    });
    this.#answers = new Histogram({
      name: 'vendor_mirror_delivery_answer_seconds',
      help: 'Time from the arrival of a delivery to its answer.',
      labelNames: ['outcome'],
      buckets: answerBuckets,
      registers,
    });
    this.#requests = new Counter({
      name: 'vendor_mirror_requests_total',
      help: 'Attempts to call the service, by the status of the answer; "error" if there was none.',
      labelNames: ['family', 'method', 'status'],
      registers,
    });
    this.#requestTimes = new Histogram({
      name: 'vendor_mirror_request_duration_seconds',
      help: 'Duration of attempts to call the service.',
      labelNames: ['family'],
      buckets: requestBuckets,
      registers,
    });
    this.#runs = new Counter({
      name: 'vendor_mirror_runs_total',
      help: 'Runs that ended, by outcome.',
      labelNames: ['kind', 'outcome'],
      registers,
    });
    this.#runTimes = new Histogram({
      name: 'vendor_mirror_run_duration_seconds',
      help: 'Duration of runs.',
      labelNames: ['kind'],
      buckets: runBuckets,
      registers,
    });
    this.#pages = new Counter({
      name: 'vendor_mirror_pages_total',
      help: 'Pages of the vendor list that runs read.',
      labelNames: ['kind'],
      registers,
    });
    this.#findings = new Counter({
      name: 'vendor_mirror_findings_total',
      help: 'Differences found by sweeps.',
      labelNames: ['kind'],
      registers,
    });
    this.#notified = new Counter({
      name: 'vendor_mirror_notify_attempts_total',
      help: 'Attempts to deliver outgoing webhooks, by outcome.',
      labelNames: ['target', 'outcome'],
      registers,
    });
    this.#wrongTokens = new Counter({
      name: 'vendor_mirror_admin_wrong_tokens_total',
      help: 'Requests to the admin port with a wrong token.',
      registers,
    });
    this.#setGauges = createGauges(this.#registry);
    this.#setTargets = createTargetGauges(this.#registry);
    this.#setPublications = createPublicationGauges(this.#registry);
  }

  /** Media type of what `render` gives. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** The listener answered after `ms` milliseconds; `outcome` is a word from a short list. */
  delivery(outcome: string, ms: number): void {
    this.#deliveries.inc({ outcome });
    this.#answers.observe({ outcome }, ms / 1_000);
  }

  /** An attempt to call the service ended. */
  request({ family, method, status, ms }: AttemptFacts): void {
    this.#requests.inc({ family, method, status });
    this.#requestTimes.observe({ family }, ms / 1_000);
  }

  run({ kind, outcome, pages, seconds }: RunFacts): void {
    this.#runs.inc({ kind, outcome });
    this.#runTimes.observe({ kind }, seconds);
    this.#pages.inc({ kind }, pages);
  }

  finding(kind: FindingKind, count: number): void {
    this.#findings.inc({ kind }, count);
  }

  /** An attempt to deliver a webhook to a target of the settings ended. */
  notified(target: string, outcome: string): void {
    this.#notified.inc({ target, outcome });
  }

  /** Somebody sent a wrong token to the admin port. */
  wrongToken(): void {
    this.#wrongTokens.inc();
  }

  /** Everything in the Prometheus text format, with the state of the mirror as it was examined. */
  async render(health: Health): Promise<string> {
    this.#setGauges(health);
    this.#setTargets(health);
    this.#setPublications(health);
    return `${await this.#registry.metrics()}${await processMetrics()}`;
  }
}

/** More labels would overload what collects them: the accounts that most need attention have labels, the totals cover all. */
const maxLabels = 50;

interface AccountGauge {
  readonly name: string;
  readonly help: string;
  /** The number of an account; undefined where there is none to give. */
  readonly of: (account: AccountHealth, now: number) => number | undefined;
}

const since = (moment: string | null, now: number): number | undefined => {
  const instant = moment === null ? undefined : parseInstant(moment);
  return instant === undefined ? undefined : Math.max(0, now - instant) / 1_000;
};

const accountGauges: readonly AccountGauge[] = [
  {
    name: 'ready',
    help: 'Whether the mirror may be relied on: 1 or 0.',
    of: ({ ready }) => Number(ready),
  },
  {
    name: 'stale',
    help: 'Whether the mirror is older than admin.maxStaleness, or its freshness is in doubt: 1 or 0.',
    of: ({ stale }) => Number(stale),
  },
  {
    name: 'staleness_seconds',
    help: 'How far what the lists show may lag behind the service.',
    of: ({ staleness }) => (staleness === null ? undefined : staleness / 1_000),
  },
  {
    name: 'queue_vendors',
    help: 'Marked vendors that wait to be read again.',
    of: ({ facts }) => facts.queue.waiting,
  },
  {
    name: 'parked_vendors',
    help: 'Marked vendors that could not be read, until the next reconciliation.',
    of: ({ facts }) => facts.queue.parked,
  },
  {
    name: 'account_queue_oldest_seconds',
    help: 'Age of the oldest open mark of an account; 0 where the queue is empty.',
    of: ({ facts }, now) => since(facts.oldestMark, now) ?? 0,
  },
  {
    name: 'open_suspects',
    help: 'Vendors that a complete sweep did not show, waiting for a second proof.',
    of: ({ facts }) => facts.freshness.open_suspects,
  },
  {
    name: 'undecided_vendors',
    help: 'Vendors that no list shows and that cannot be read, which limit what is claimed.',
    of: ({ facts }) => facts.freshness.undecided,
  },
  {
    name: 'callback_verified',
    help: 'Whether a callback is verified: 1 or 0.',
    of: ({ facts }) => Number(facts.freshness.callback_verified === 1),
  },
  {
    name: 'watchdog_silent',
    help: 'Whether sweeps find changes while no delivery arrives: 1 or 0.',
    of: ({ deliveries }) => Number(deliveries.state === 'silent'),
  },
  {
    name: 'deliveries_refused_seconds',
    help: 'How long deliveries have come that were refused, and none that was accepted; 0 where that is not so.',
    of: ({ problems }, now) =>
      since(problems.find(({ code }) => code === 'deliveries_refused')?.since ?? null, now) ?? 0,
  },
  {
    name: 'last_delivery_age_seconds',
    help: 'Time since the last delivery with a valid signature.',
    of: ({ facts }, now) => since(facts.lastDelivery, now),
  },
];

/** Accounts that the settings name and nobody paused. */
const served = (accounts: readonly AccountHealth[]): AccountHealth[] => accounts.filter(({ isServed }) => isServed);

interface TotalGauge {
  readonly name: string;
  readonly help: string;
  readonly of: (health: Health) => number;
}

/** The largest of the numbers; 0 of none. */
const most = (numbers: readonly number[]): number => numbers.reduce((largest, number) => Math.max(largest, number), 0);

const totalGauges: readonly TotalGauge[] = [
  {
    name: 'accounts',
    help: 'Accounts, including paused ones.',
    of: ({ accounts }) => accounts.filter(({ facts }) => !facts.isLeft).length,
  },
  {
    name: 'accounts_paused',
    help: 'Paused accounts. Besides this one, only vendor_mirror_accounts counts them.',
    of: ({ accounts }) => accounts.filter(isPaused).length,
  },
  {
    name: 'accounts_stale',
    help: 'Accounts whose part of the mirror is older than admin.maxStaleness, or whose freshness is in doubt.',
    of: ({ accounts }) => accounts.filter(({ stale }) => stale).length,
  },
  {
    name: 'staleness_max_seconds',
    help: 'The longest time by which what the lists show may lag behind the service; for an account without a complete sweep, the time since the process started.',
    of: ({ accounts, facts, now }) =>
      most(served(accounts).map(({ staleness }) => staleness ?? Math.max(0, now - (facts.startedAt ?? now)))) / 1_000,
  },
  {
    name: 'queue_oldest_seconds',
    help: 'Age of the oldest open mark of all accounts; 0 where the queue is empty.',
    of: ({ accounts, now }) => most(served(accounts).map(({ facts }) => since(facts.oldestMark, now) ?? 0)),
  },
  {
    name: 'parked',
    help: 'Marked vendors of all accounts that could not be read, until the next reconciliation.',
    of: ({ accounts }) => served(accounts).reduce((total, { facts }) => total + facts.queue.parked, 0),
  },
  {
    name: 'disk_free_bytes',
    help: 'Bytes that are free beside the mirror file.',
    of: ({ facts }) => facts.ability.diskFreeBytes,
  },
  {
    name: 'process_ready',
    help: 'Whether the process can accept and store deliveries: 1 or 0.',
    of: ({ process }) => Number(process.length === 0),
  },
  {
    name: 'start_time_seconds',
    help: 'When the process started, seconds since 1970.',
    of: ({ facts }) => (facts.startedAt ?? 0) / 1_000,
  },
  { name: 'database_bytes', help: 'Size of the mirror file.', of: ({ facts }) => facts.files.databaseBytes },
  { name: 'wal_bytes', help: 'Size of the write-ahead log beside it.', of: ({ facts }) => facts.files.walBytes },
  { name: 'resident_memory_bytes', help: 'Memory of the process.', of: ({ facts }) => facts.process?.rssBytes ?? 0 },
  {
    name: 'event_loop_lag_seconds',
    help: 'Delay of the event loop.',
    of: ({ facts }) => facts.process?.eventLoopLagSeconds ?? 0,
  },
];

/** Registers the gauges; the returned function sets them all. */
function createGauges(registry: Registry): (health: Health) => void {
  const registers = [registry];
  const totals = totalGauges.map(({ name, help, of }) => {
    const gauge = new Gauge({ name: `vendor_mirror_${name}`, help, registers });
    return (health: Health) => gauge.set(of(health));
  });
  const ofAccounts = accountGauges.map(({ name, help, of }) => {
    const gauge = new Gauge({ name: `vendor_mirror_${name}`, help, labelNames: ['account'], registers });
    return (accounts: readonly AccountHealth[], now: number) => {
      gauge.reset();
      for (const account of accounts) {
        const value = of(account, now);
        if (value !== undefined) gauge.set({ account: account.facts.account }, value);
      }
    };
  });
  const lastRunFailed = new Gauge({
    name: 'vendor_mirror_last_run_failed',
    help: 'Always 1, for an account whose last run was not complete; the label code says why.',
    labelNames: ['account', 'code'],
    registers,
  });
  const requestsFailing = new Gauge({
    name: 'vendor_mirror_requests_failing_seconds',
    help: 'How long all requests of an account have failed; the label code says why.',
    labelNames: ['account', 'code'],
    registers,
  });
  const connectionsFailing = new Gauge({
    name: 'vendor_mirror_connection_failing_seconds',
    help: 'How long a connection has given no access; the label code says why.',
    labelNames: ['connection', 'code'],
    registers,
  });
  const refused = new Gauge({
    name: 'vendor_mirror_connection_refused_accounts',
    help: 'Accounts of a connection to which the service refuses access.',
    labelNames: ['connection'],
    registers,
  });
  const problems = new Gauge({
    name: 'vendor_mirror_problem',
    help: 'Always 1, for each problem; the label code names it as /api/status does, and account is empty where it is of no single account.',
    labelNames: ['account', 'code'],
    registers,
  });
  const version = new Gauge({
    name: 'vendor_mirror_info',
    help: 'Always 1; the label has the version.',
    labelNames: ['version'],
    registers,
  });
  return (health) => {
    version.set({ version: health.facts.version }, 1);
    for (const set of totals) set(health);
    const labelled = served(health.bySeverity).slice(0, maxLabels);
    for (const set of ofAccounts) set(labelled, health.now);
    connectionsFailing.reset();
    for (const { connection, failing } of health.facts.connections)
      if (failing) connectionsFailing.set({ connection, code: failing.code }, since(failing.first_at, health.now) ?? 0);
    lastRunFailed.reset();
    requestsFailing.reset();
    problems.reset();
    for (const { code } of [...health.process, ...health.installation]) problems.set({ account: '', code }, 1);
    refused.reset();
    for (const { connection } of health.facts.connections) refused.set({ connection }, 0);
    for (const { facts, problems: found } of served(health.accounts))
      if (found.some(({ code }) => code === 'access_refused')) refused.inc({ connection: facts.connection });
    for (const { facts, error, problems: found } of labelled) {
      const { account, failing } = facts;
      for (const { code } of found) problems.set({ account, code }, 1);
      if (error) lastRunFailed.set({ account, code: error.code ?? error.run.outcome }, 1);
      if (failing) requestsFailing.set({ account, code: failing.code }, since(failing.first_at, health.now) ?? 0);
    }
  };
}

const gauges: readonly { name: string; help: string; of: (target: TargetStatus) => number }[] = [
  {
    name: 'lag_seconds',
    help: 'How long the oldest change that a target has not received has waited, without those that were given up.',
    of: ({ lag_seconds }) => lag_seconds,
  },
  { name: 'waiting', help: 'Vendors with changes that a target has not received.', of: ({ waiting }) => waiting },
  { name: 'parked', help: 'Vendors whose changes were given up for a target.', of: ({ parked }) => parked },
  {
    name: 'disabled',
    help: 'Whether the target is disabled because its receiver answered 410: 1 or 0.',
    of: ({ disabled_at }) => Number(disabled_at !== null),
  },
];

/** Nothing is sent to these. */
const outside = new Set<TargetStatus['state']>(['not begun', 'not in the settings']);

/** Registers the gauges of copies for readers; the returned function sets them all. */
function createPublicationGauges(registry: Registry): (health: Health) => void {
  const of = (name: string, help: string): Gauge<'path'> =>
    new Gauge({ name: `vendor_mirror_publication_${name}`, help, labelNames: ['path'], registers: [registry] });
  const failing = of('failing_seconds', 'How long a copy for readers could not be written; 0 while it can.');
  const behind = of('behind_seconds', 'Age of the first change that a copy for readers lacks; 0 where it lacks none.');
  const age = of('age_seconds', 'Time since a copy for readers was written.');
  return ({ facts: { publications }, now }) => {
    for (const gauge of [failing, behind, age]) gauge.reset();
    for (const { path, failing_since, behind_since, written_at } of publications) {
      failing.set({ path }, since(failing_since, now) ?? 0);
      behind.set({ path }, since(behind_since, now) ?? 0);
      const written = since(written_at, now);
      if (written !== undefined) age.set({ path }, written);
    }
  };
}

/** Registers the gauges; the returned function sets them all. */
function createTargetGauges(registry: Registry): (health: Health) => void {
  const setters = gauges.map(({ name, help, of }) => {
    const gauge = new Gauge({
      name: `vendor_mirror_notify_${name}`,
      help,
      labelNames: ['target'],
      registers: [registry],
    });
    return ({ facts }: Health) => {
      gauge.reset();
      for (const target of facts.targets)
        if (!outside.has(target.state)) gauge.set({ target: target.target }, of(target));
    };
  });
  return (health) => {
    for (const set of setters) set(health);
  };
}

let registry: Registry | undefined;

/** The metrics that every program of this kind has, `process_…` and `nodejs_…`: one set for the process, begun when first asked for. */
function processMetrics(): Promise<string> {
  if (!registry) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry.metrics();
}
