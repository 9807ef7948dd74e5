/** Metrics for Prometheus. Labels have few values each; account ids are labels of the first fifty accounts only. */
import { Counter, Histogram, Registry } from 'prom-client';
import type { AttemptFacts } from '../../api/call/call.ts';
import type { FindingKind, RunKind } from '../../store/tables/mirror-tables.ts';
import { createGauges } from './gauges.ts';
import { createTargetGauges } from './target-gauges.ts';
import { processMetrics } from './process-metrics.ts';
import type { Health } from '../../health/judge.ts';

export interface RunFacts {
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
  readonly #setGauges: (health: Health) => void;
  readonly #setTargets: (health: Health) => void;

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
    this.#setGauges = createGauges(this.#registry);
    this.#setTargets = createTargetGauges(this.#registry);
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

  /** Everything in the Prometheus text format, with the state of the mirror as it was examined. */
  async render(health: Health): Promise<string> {
    this.#setGauges(health);
    this.#setTargets(health);
    return `${await this.#registry.metrics()}${await processMetrics()}`;
  }
}
