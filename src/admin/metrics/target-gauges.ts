/** The state of the targets of outgoing webhooks, measured at each scrape. */
import { Gauge, type Registry } from 'prom-client';
import type { Health, TargetStatus } from '../../health/judge.ts';

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

/** Registers the gauges; the returned function sets them all. */
export function createTargetGauges(registry: Registry): (health: Health) => void {
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
