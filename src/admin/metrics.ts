/**
 * Metrics for Prometheus, measured at each scrape. Labels have few values each; account ids are labels of the first fifty accounts only.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { AttemptFacts } from '../api/caller.ts';
import { parseInstant } from '../domain/clock.ts';
import type { AccountHealth, Health, PublicationStatus, TargetStatus } from '../health/judge.ts';
import { isPaused } from '../health/status-document.ts';
import type { RunKind } from '../domain/run.ts';
import type { FindingKind } from '../store/sql/schema.ts';

interface RunFacts {
  readonly kind: RunKind;
  readonly outcome: string;
  readonly pages: number;
  readonly seconds: number;
}

export class Metrics {
  readonly #registry = new Registry();
  readonly #deliveries = counter(this.#registry, 'deliveries', 'Requests to the listener, by outcome.', 'outcome');
  readonly #answers = histogram(
    this.#registry,
    'delivery_answer',
    'Time from the arrival of a delivery to its answer.',
    'outcome',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  );
  readonly #requests = counter(
    this.#registry,
    'requests',
    'Attempts to call the service, by the status of the answer; "error" if there was none.',
    ...(['family', 'method', 'status'] as const),
  );
  readonly #requestTimes = histogram(
    this.#registry,
    'request_duration',
    'Duration of attempts to call the service.',
    'family',
    [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  );
  readonly #runs = counter(this.#registry, 'runs', 'Runs that ended, by outcome.', 'kind', 'outcome');
  readonly #runTimes = histogram(
    this.#registry,
    'run_duration',
    'Duration of runs.',
    'kind',
    [1, 5, 15, 60, 300, 900, 3_600, 14_400],
  );
  readonly #pages = counter(this.#registry, 'pages', 'Pages of the vendor list that runs read.', 'kind');
  readonly #findings = counter(this.#registry, 'findings', 'Differences found by sweeps.', 'kind');
  readonly #notified = counter(
    this.#registry,
    'notify_attempts',
    'Attempts to deliver outgoing webhooks, by outcome.',
    ...(['target', 'outcome'] as const),
  );
  readonly #wrongTokens = counter(
    this.#registry,
    'admin_wrong_tokens',
    'Requests to the admin port with a wrong token.',
  );
  readonly #gauges = gauges.map(({ name, help, labels = [], of }) => ({
    gauge: new Gauge({ name: `vendor_mirror_${name}`, help, labelNames: labels, registers: [this.#registry] }),
    of,
  }));

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** The listener answered after `ms` milliseconds; `outcome` is a word from a short list. */
  delivery(outcome: string, ms: number): void {
    this.#deliveries.inc({ outcome });
    this.#answers.observe({ outcome }, ms / 1_000);
  }

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

  notified(target: string, outcome: string): void {
    this.#notified.inc({ target, outcome });
  }

  wrongToken(): void {
    this.#wrongTokens.inc();
  }

  /** Everything in the Prometheus text format, with the state of the mirror as it was examined. */
  async render(health: Health): Promise<string> {
    for (const { gauge, of } of this.#gauges) {
      gauge.reset();
      for (const { value, labels = {} } of of(health))
        // A gauge without labels was set to 0.
        if (value === undefined) gauge.remove(labels);
        else gauge.set(labels, value);
    }
    return `${await this.#registry.metrics()}${await processMetrics()}`;
  }
}

function counter<Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  ...labelNames: readonly Label[]
): Counter<Label> {
  return new Counter({ name: `vendor_mirror_${name}_total`, help, labelNames, registers: [registry] });
}

function histogram<Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  label: Label,
  buckets: number[],
): Histogram<Label> {
  const labelNames = [label];
  return new Histogram({ name: `vendor_mirror_${name}_seconds`, help, labelNames, buckets, registers: [registry] });
}

/** A number that is there at each scrape, or several of different labels. */
interface GaugeOf {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly of: (health: Health) => readonly Sample[];
}

interface Sample {
  /** Undefined where there is none to give. */
  readonly value: number | undefined;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Of the mirror as a whole. */
function total(name: string, help: string, of: (health: Health) => number | undefined): GaugeOf {
  return { name, help, of: (health) => [{ value: of(health) }] };
}

/** More labels would overload what collects them: the accounts that most need attention have labels, the totals cover all. */
const maxLabels = 50;

const labelled = ({ bySeverity }: Health): AccountHealth[] => served(bySeverity).slice(0, maxLabels);

/** Accounts that the settings name and nobody paused. */
const served = (accounts: readonly AccountHealth[]): AccountHealth[] => accounts.filter(({ isServed }) => isServed);

function ofAccount(
  name: string,
  help: string,
  of: (account: AccountHealth, now: number) => number | undefined,
): GaugeOf {
  return {
    ...{ name, help, labels: ['account'] },
    of: (health) =>
      labelled(health).map((account) => ({
        labels: { account: account.facts.account },
        value: of(account, health.now),
      })),
  };
}

/** Of each target of outgoing webhooks that something is sent to. */
function ofTarget(name: string, help: string, of: (target: TargetStatus) => number): GaugeOf {
  return {
    ...{ name: `notify_${name}`, help, labels: ['target'] },
    of: ({ facts: { targets } }) =>
      targets
        .filter(({ state }) => state !== 'not begun' && state !== 'not in the settings')
        .map((target) => ({ labels: { target: target.target }, value: of(target) })),
  };
}

/** Of each copy for readers: the time since a moment, or else `otherwise`. */
function ofPublication(
  name: string,
  help: string,
  momentOf: (publication: PublicationStatus) => string | null,
  otherwise?: number,
): GaugeOf {
  return {
    ...{ name: `publication_${name}_seconds`, help, labels: ['path'] },
    of: ({ facts: { publications }, now }) =>
      publications.map((one) => ({ labels: { path: one.path }, value: since(momentOf(one), now) ?? otherwise })),
  };
}

/** Seconds since a moment; undefined where there is none. */
const since = (moment: string | null, now: number): number | undefined => {
  const instant = moment === null ? undefined : parseInstant(moment);
  return instant === undefined ? undefined : Math.max(0, now - instant) / 1_000;
};

/** The largest of the numbers; 0 of none. */
const most = (numbers: readonly number[]): number => numbers.reduce((largest, number) => Math.max(largest, number), 0);

/** In the order in which a scrape shows them. */
const gauges: readonly GaugeOf[] = [
  total(
    'accounts',
    'Accounts, including paused ones.',
    ({ accounts }) => accounts.filter(({ facts }) => !facts.isLeft).length,
  ),
  total(
    'accounts_paused',
    'Paused accounts. Besides this one, only vendor_mirror_accounts counts them.',
    ({ accounts }) => accounts.filter(isPaused).length,
  ),
  total(
    'accounts_stale',
    'Accounts whose part of the mirror is older than admin.maxStaleness, or whose freshness is in doubt.',
    ({ accounts }) => accounts.filter(({ stale }) => stale).length,
  ),
  total(
    'staleness_max_seconds',
    'The longest time by which what the lists show may lag behind the service; for an account without a complete sweep, the time since the process started.',
    ({ accounts, facts, now }) =>
      most(served(accounts).map(({ staleness }) => staleness ?? Math.max(0, now - (facts.startedAt ?? now)))) / 1_000,
  ),
  total(
    'queue_oldest_seconds',
    'Age of the oldest open mark of all accounts; 0 where the queue is empty.',
    ({ accounts, now }) => most(served(accounts).map(({ facts }) => since(facts.oldestMark, now) ?? 0)),
  ),
  total(
    'parked',
    'Marked vendors of all accounts that could not be read, until the next reconciliation.',
    ({ accounts }) => served(accounts).reduce((total, { facts }) => total + facts.queue.parked, 0),
  ),
  total('disk_free_bytes', 'Bytes that are free beside the mirror file.', ({ facts: { ability } }) =>
    Number.isFinite(ability.diskFreeBytes) ? ability.diskFreeBytes : undefined,
  ),
  total('process_ready', 'Whether the process can accept and store deliveries: 1 or 0.', ({ process }) =>
    Number(process.length === 0),
  ),
  total(
    'start_time_seconds',
    'When the process started, seconds since 1970.',
    ({ facts }) => (facts.startedAt ?? 0) / 1_000,
  ),
  total('database_bytes', 'Size of the mirror file.', ({ facts }) => facts.files.databaseBytes),
  total('wal_bytes', 'Size of the write-ahead log beside it.', ({ facts }) => facts.files.walBytes),
  total('resident_memory_bytes', 'Memory of the process.', ({ facts }) => facts.process?.rssBytes ?? 0),
  total('event_loop_lag_seconds', 'Delay of the event loop.', ({ facts }) => facts.process?.eventLoopLagSeconds ?? 0),
  ofAccount('ready', 'Whether the mirror may be relied on: 1 or 0.', ({ ready }) => Number(ready)),
  ofAccount(
    'stale',
    'Whether the mirror is older than admin.maxStaleness, or its freshness is in doubt: 1 or 0.',
    ({ stale }) => Number(stale),
  ),
  ofAccount('staleness_seconds', 'How far what the lists show may lag behind the service.', ({ staleness }) =>
    staleness === null ? undefined : staleness / 1_000,
  ),
  ofAccount('queue_vendors', 'Marked vendors that wait to be read again.', ({ facts }) => facts.queue.waiting),
  ofAccount(
    'parked_vendors',
    'Marked vendors that could not be read, until the next reconciliation.',
    ({ facts }) => facts.queue.parked,
  ),
  ofAccount(
    'account_queue_oldest_seconds',
    'Age of the oldest open mark of an account; 0 where the queue is empty.',
    ({ facts }, now) => since(facts.oldestMark, now) ?? 0,
  ),
  ofAccount(
    'open_suspects',
    'Vendors that a complete sweep did not show, waiting for a second proof.',
    ({ facts }) => facts.freshness.open_suspects,
  ),
  ofAccount(
    'undecided_vendors',
    'Vendors that no list shows and that cannot be read, which limit what is claimed.',
    ({ facts }) => facts.freshness.undecided,
  ),
  ofAccount('callback_verified', 'Whether a callback is verified: 1 or 0.', ({ facts }) =>
    Number(facts.freshness.callback_verified === 1),
  ),
  ofAccount('watchdog_silent', 'Whether sweeps find changes while no delivery arrives: 1 or 0.', ({ deliveries }) =>
    Number(deliveries.state === 'silent'),
  ),
  ofAccount(
    'deliveries_refused_seconds',
    'How long deliveries have come that were refused, and none that was accepted; 0 where that is not so.',
    ({ problems }, now) => since(problems.find(({ code }) => code === 'deliveries_refused')?.since ?? null, now) ?? 0,
  ),
  ofAccount('last_delivery_age_seconds', 'Time since the last delivery with a valid signature.', ({ facts }, now) =>
    since(facts.lastDelivery, now),
  ),
  {
    name: 'last_run_failed',
    help: 'Always 1, for an account whose last run was not complete; the label code says why.',
    labels: ['account', 'code'],
    of: (health) =>
      labelled(health).flatMap(({ facts: { account }, error }) =>
        error ? { labels: { account, code: error.code ?? error.run.outcome }, value: 1 } : [],
      ),
  },
  {
    name: 'requests_failing_seconds',
    help: 'How long all requests of an account have failed; the label code says why.',
    labels: ['account', 'code'],
    of: (health) =>
      labelled(health).flatMap(({ facts: { account, failing } }) =>
        failing ? { labels: { account, code: failing.code }, value: since(failing.first_at, health.now) ?? 0 } : [],
      ),
  },
  {
    name: 'connection_failing_seconds',
    help: 'How long a connection has given no access; the label code says why.',
    labels: ['connection', 'code'],
    of: ({ facts: { connections }, now }) =>
      connections.flatMap(({ connection, failing }) =>
        failing ? { labels: { connection, code: failing.code }, value: since(failing.first_at, now) ?? 0 } : [],
      ),
  },
  {
    name: 'connection_refused_accounts',
    help: 'Accounts of a connection to which the service refuses access.',
    labels: ['connection'],
    of: ({ facts: { connections }, accounts }) => {
      const refused = served(accounts).filter(({ problems }) => problems.some(({ code }) => code === 'access_refused'));
      const of = refused.map(({ facts }) => facts.connection);
      return [...new Set([...connections.map(({ connection }) => connection), ...of])].map((connection) => ({
        labels: { connection },
        value: of.filter((one) => one === connection).length,
      }));
    },
  },
  {
    name: 'daemons',
    help: 'Daemons that serve the mirror, by what they do (work, listen) and version; only where several may.',
    labels: ['role', 'version'],
    of: ({ facts: { serving } }) =>
      (serving ?? []).flatMap((one, _, all) =>
        (['work', 'listen'] as const).map((role) => ({
          labels: { role, version: one.version },
          value: all.filter((other) => other.version === one.version && (role === 'work' ? other.works : other.listens))
            .length,
        })),
      ),
  },
  {
    name: 'problem',
    help: 'Always 1, for each problem; the label code names it as /api/status does, and account is empty where it is of no single account.',
    labels: ['account', 'code'],
    of: (health) => [
      ...[...health.process, ...health.installation].map(({ code }) => ({ labels: { account: '', code }, value: 1 })),
      ...labelled(health).flatMap(({ facts: { account }, problems }) =>
        problems.map(({ code }) => ({ labels: { account, code }, value: 1 })),
      ),
    ],
  },
  {
    name: 'info',
    help: 'Always 1; the label has the version.',
    labels: ['version'],
    of: ({ facts: { version } }) => [{ labels: { version }, value: 1 }],
  },
  ofTarget(
    'lag_seconds',
    'How long the oldest change that a target has not received has waited, without those that were given up.',
    ({ lag_seconds }) => lag_seconds,
  ),
  ofTarget('waiting', 'Vendors with changes that a target has not received.', ({ waiting }) => waiting),
  ofTarget('parked', 'Vendors whose changes were given up for a target.', ({ parked }) => parked),
  ofTarget('disabled', 'Whether the target is disabled because its receiver answered 410: 1 or 0.', ({ disabled_at }) =>
    Number(disabled_at !== null),
  ),
  ofPublication(
    'failing',
    'How long a copy for readers could not be written; 0 while it can.',
    ({ failing_since }) => failing_since,
    0,
  ),
  ofPublication(
    'behind',
    'Age of the first change that a copy for readers lacks; 0 where it lacks none.',
    ({ behind_since }) => behind_since,
    0,
  ),
  ofPublication('age', 'Time since a copy for readers was written.', ({ written_at }) => written_at),
];

let registry: Registry | undefined;

/** The metrics that every program of this kind has, `process_…` and `nodejs_…`: one set for the process, begun when first asked for. */
function processMetrics(): Promise<string> {
  if (!registry) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry.metrics();
}
