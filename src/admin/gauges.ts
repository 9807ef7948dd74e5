/** What is measured at the moment somebody asks: the state of the mirror and of the process. */
import { Gauge, type Registry } from 'prom-client';
import { parseInstant } from '../clock.ts';
import type { AccountHealth, Health } from './readiness.ts';

/** Beyond so many accounts a label for each would swamp the one who collects them; then one line speaks for all. */
const mostLabels = 50;

interface AccountGauge {
  readonly name: string;
  readonly help: string;
  /** The number of an account; undefined where there is none to give. */
  readonly of: (account: AccountHealth, now: number) => number | undefined;
  /** Makes one number of all accounts'. */
  readonly join: (...values: number[]) => number;
}

const sum = (...values: number[]): number => values.reduce((total, value) => total + value, 0);

const since = (moment: string | null, now: number): number | undefined => {
  const instant = moment === null ? undefined : parseInstant(moment);
  return instant === undefined ? undefined : Math.max(0, now - instant) / 1_000;
};

const accountGauges: readonly AccountGauge[] = [
  {
    name: 'ready',
    help: 'Whether the mirror may be relied on: 1 or 0.',
    of: ({ ready }) => Number(ready),
    join: Math.min,
  },
  {
    name: 'staleness_seconds',
    help: 'How far the mirror may lag behind the service.',
    of: ({ staleness }) => (staleness === null ? undefined : staleness / 1_000),
    join: Math.max,
  },
  {
    name: 'queue_vendors',
    help: 'Marked vendors that wait to be read again.',
    of: ({ facts }) => facts.queue.waiting,
    join: sum,
  },
  {
    name: 'parked_vendors',
    help: 'Marked vendors that could not be read, until the next reconciliation.',
    of: ({ facts }) => facts.queue.parked,
    join: sum,
  },
  {
    name: 'queue_oldest_seconds',
    help: 'Age of the oldest open mark; 0 where the queue is empty.',
    of: ({ facts }, now) => since(facts.oldestMark, now) ?? 0,
    join: Math.max,
  },
  {
    name: 'open_suspects',
    help: 'Vendors that a complete sweep did not show, and that await a second proof.',
    of: ({ facts }) => facts.freshness.open_suspects,
    join: sum,
  },
  {
    name: 'callback_verified',
    help: 'Whether a callback is verified: 1 or 0.',
    of: ({ facts }) => Number(facts.freshness.callback_verified === 1),
    join: Math.min,
  },
  {
    name: 'watchdog_silent',
    help: 'Whether changes are found while no delivery comes: 1 or 0.',
    of: ({ facts }) => Number(facts.watchdog === 'silent'),
    join: Math.max,
  },
  {
    name: 'last_delivery_age_seconds',
    help: 'Time since the last delivery with a true signature.',
    of: ({ facts }, now) => since(facts.lastDelivery, now),
    join: Math.min,
  },
];

interface ProcessGauge {
  readonly name: string;
  readonly help: string;
  readonly of: (health: Health) => number;
}

const processGauges: readonly ProcessGauge[] = [
  {
    name: 'start_time_seconds',
    help: 'When the process began, seconds since 1970.',
    of: ({ facts }) => facts.startedAt / 1_000,
  },
  { name: 'database_bytes', help: 'Size of the mirror file.', of: ({ facts }) => facts.files.databaseBytes },
  { name: 'wal_bytes', help: 'Size of the write-ahead log beside it.', of: ({ facts }) => facts.files.walBytes },
  { name: 'resident_memory_bytes', help: 'Memory of the process.', of: ({ facts }) => facts.process.rssBytes },
  {
    name: 'event_loop_lag_seconds',
    help: 'How late the event loop runs what is due.',
    of: ({ facts }) => facts.process.eventLoopLagSeconds,
  },
];

/** Registers the gauges; the returned function sets them all. */
export function createGauges(registry: Registry): (health: Health) => void {
  const registers = [registry];
  const ofProcess = processGauges.map(({ name, help, of }) => {
    const gauge = new Gauge({ name: `vendor_mirror_${name}`, help, registers });
    return (health: Health) => gauge.set(of(health));
  });
  const ofAccounts = accountGauges.map(({ name, help, of, join }) => {
    const gauge = new Gauge({ name: `vendor_mirror_${name}`, help, labelNames: ['account'], registers });
    return ({ accounts, now }: Health) => {
      gauge.reset();
      for (const [account, members] of labelled(accounts)) {
        const values = members.map((member) => of(member, now)).filter((value) => value !== undefined);
        if (values.length > 0) gauge.set({ account }, join(...values));
      }
    };
  });
  const version = new Gauge({
    name: 'vendor_mirror_info',
    help: 'Always 1; the version stands in the label.',
    labelNames: ['version'],
    registers,
  });
  return (health) => {
    version.set({ version: health.facts.version }, 1);
    for (const set of [...ofProcess, ...ofAccounts]) set(health);
  };
}

function labelled(accounts: readonly AccountHealth[]): [string, readonly AccountHealth[]][] {
  if (accounts.length > mostLabels) return [['all', accounts]];
  return accounts.map((account) => [account.facts.account, [account]]);
}
