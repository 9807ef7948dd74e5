/** Numbers for Prometheus. Labels are words from short lists; an account's id is one only where there are few accounts. */
import { Counter, Histogram, Registry } from 'prom-client';
import type { AttemptFacts } from '../../api/call/call.ts';
import type { FindingKind, RunKind } from '../../store/tables/mirror-tables.ts';
import { createGauges } from './gauges.ts';
import { createTargetGauges } from './target-gauges.ts';
import { processMetrics } from './process-metrics.ts';
import type { Health } from '../health/readiness.ts';

export interface RunFacts {
  readonly kind: RunKind;
  readonly outcome: string;
  readonly pages: number;
  readonly seconds: number;
}

export interface Metrics {
  /** Media type of what `render` gives. */
  readonly contentType: string;
  /** The listener answered after `ms` milliseconds; `outcome` is a word from a short list. */
  delivery(outcome: string, ms: number): void;
  /** An attempt to call the service ended. */
  request(facts: AttemptFacts): void;
  run(facts: RunFacts): void;
  finding(kind: FindingKind, count: number): void;
  /** An attempt to deliver a webhook to a target of the settings ended. */
  notified(target: string, outcome: string): void;
  /** Everything in the Prometheus text format, with the state of the mirror as it was examined. */
  render(health: Health): Promise<string>;
}

/** A delivery must be answered within ten seconds. */
const answerBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const requestBuckets = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const runBuckets = [1, 5, 15, 60, 300, 900, 3_600, 14_400];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const deliveries = new Counter({
    name: 'vendor_mirror_deliveries_total',
    help: 'Requests to the listener, by what became of them.',
    labelNames: ['outcome'],
    registers,
  });
  const answers = new Histogram({
    name: 'vendor_mirror_delivery_answer_seconds',
    help: 'Time from the arrival of a delivery to its answer.',
    labelNames: ['outcome'],
    buckets: answerBuckets,
    registers,
  });
  const requests = new Counter({
    name: 'vendor_mirror_requests_total',
    help: 'Attempts to call the service, by the status of the answer; "error" where none came.',
    labelNames: ['family', 'method', 'status'],
    registers,
  });
  const requestTimes = new Histogram({
    name: 'vendor_mirror_request_duration_seconds',
    help: 'Time that attempts to call the service took.',
    labelNames: ['family'],
    buckets: requestBuckets,
    registers,
  });
  const runs = new Counter({
    name: 'vendor_mirror_runs_total',
    help: 'Runs that ended, by outcome.',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const runTimes = new Histogram({
    name: 'vendor_mirror_run_duration_seconds',
    help: 'Time that runs took.',
    labelNames: ['kind'],
    buckets: runBuckets,
    registers,
  });
  const pages = new Counter({
    name: 'vendor_mirror_pages_total',
    help: 'Pages of the vendor list that runs read.',
    labelNames: ['kind'],
    registers,
  });
  const findings = new Counter({
    name: 'vendor_mirror_findings_total',
    help: 'Differences that sweeps met.',
    labelNames: ['kind'],
    registers,
  });
  const notified = new Counter({
    name: 'vendor_mirror_notify_attempts_total',
    help: 'Attempts to deliver outgoing webhooks, by outcome.',
    labelNames: ['target', 'outcome'],
    registers,
  });
  const setGauges = createGauges(registry);
  const setTargets = createTargetGauges(registry);

  return {
    contentType: registry.contentType,
    delivery(outcome, ms) {
      deliveries.inc({ outcome });
      answers.observe({ outcome }, ms / 1_000);
    },
    request({ family, method, status, ms }) {
      requests.inc({ family, method, status });
      requestTimes.observe({ family }, ms / 1_000);
    },
    run({ kind, outcome, pages: read, seconds }) {
      runs.inc({ kind, outcome });
      runTimes.observe({ kind }, seconds);
      pages.inc({ kind }, read);
    },
    finding(kind, count) {
      findings.inc({ kind }, count);
    },
    notified(target, outcome) {
      notified.inc({ target, outcome });
    },
    async render(health) {
      setGauges(health);
      setTargets(health);
      return `${await registry.metrics()}${await processMetrics()}`;
    },
  };
}
