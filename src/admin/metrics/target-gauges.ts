/** The state of the targets of outgoing webhooks, measured at each scrape. */
import { Gauge, type Registry } from 'prom-client';
import { lagOf, type TargetReport } from '../../store/outbox/outbox-report.ts';
import type { Health } from '../health/readiness.ts';

const gauges: readonly { name: string; help: string; of: (target: TargetReport, now: number) => number }[] = [
  {
    name: 'lag_seconds',
    help: 'How long the oldest change that a target has not received has waited, without those that were given up.',
    of: (target, now) => lagOf(target, now) / 1_000,
  },
  { name: 'waiting', help: 'Vendors with changes that a target has not received.', of: ({ waiting }) => waiting },
  { name: 'parked', help: 'Vendors whose changes were given up for a target.', of: ({ parked }) => parked },
  {
    name: 'disabled',
    help: 'Whether the target is disabled because its receiver answered 410: 1 or 0.',
    of: ({ disabled_at }) => Number(disabled_at !== null),
  },
];

/** Registers the gauges; the returned function sets them all. */
export function createTargetGauges(registry: Registry): (health: Health) => void {
  const setters = gauges.map(({ name, help, of }) => {
    const gauge = new Gauge({
      name: `vendor_mirror_notify_${name}`,
      help,
      labelNames: ['target'],
      registers: [registry],
    });
    return ({ facts, now }: Health) => {
      gauge.reset();
      for (const target of facts.targets) gauge.set({ target: target.target }, of(target, now));
    };
  });
  return (health) => {
    for (const set of setters) set(health);
  };
}
