/** The data that the dashboard, probes and metrics show. */
import type { TargetReport } from '../../store/outbox/outbox-report.ts';
import type { ConnectionFacts } from './connection-health.ts';
import type { AccountState } from '../../store/reports/account-state.ts';

export interface HealthSource {
  /** Everything as it is now. */
  facts(): Promise<HealthFacts>;
  /** Whether this process can do its work, which says nothing of any account. */
  ability(): Ability;
}

/** What the process needs to take deliveries. */
export interface Ability {
  /** Whether the listener takes connections. */
  readonly listening: boolean;
  /** Why no delivery can be kept, as a sentence; null while it can. */
  readonly trouble: string | null;
  /** Bytes that are free beside the mirror. */
  readonly diskFreeBytes: number;
}

export interface HealthFacts {
  readonly version: string;
  /** Wall time at which the process began, milliseconds since 1970. */
  readonly startedAt: number;
  readonly accounts: readonly AccountFacts[];
  readonly connections: readonly ConnectionFacts[];
  readonly ability: Ability;
  /** The targets of outgoing webhooks that the settings name. */
  readonly targets: readonly TargetReport[];
  readonly files: { readonly databaseBytes: number; readonly walBytes: number };
  readonly process: { readonly rssBytes: number; readonly eventLoopLagSeconds: number };
  /** Wall time of the next scheduled run of any account, milliseconds since 1970; undefined where all are under way. */
  readonly next: { readonly pull: number | undefined; readonly reconcile: number | undefined };
}

/** An account's report without the sums of money, which no page here shows. */
export interface AccountFacts extends Omit<AccountState, 'days'> {
  /** Rows of the view `webhook_health` of the last days, oldest first; days without deliveries or changes may be left out. */
  readonly days: readonly WebhookDay[];
  readonly watchdog: Watchdog;
  /** How far the sweep under way has come; null while none is, or none of its pages has arrived. */
  readonly progress: SweepProgressFacts | null;
  /** Why the mirror may not be called fresh although its records say so (a suspended machine, a restored file), as a sentence. */
  readonly doubt: string | null;
}

/** What the service announced on one day (UTC), and what it did not. */
export interface WebhookDay {
  readonly day: string;
  readonly deliveries: number;
  readonly duplicates: number;
  /** Vendors that changed between two sweeps, the second of this day, and of whose last change no delivery told, or one did. */
  readonly unannounced_changes: number;
  readonly announced_changes: number;
  readonly late_deliveries: number;
  readonly latest_seconds: number | null;
  /** The unannounced among them, from 0 to 1; null where no sweep has counted. */
  readonly loss_rate: number | null;
}

/** Whether deliveries arrive: none are expected, they arrive, or changes are found and none has arrived for unusually long. */
export type Watchdog = 'off' | 'receiving' | 'silent';

/** How far a sweep has come. */
export interface SweepProgressFacts {
  /** The last page that arrived, of how many, and the walk that it belongs to. */
  readonly page: number;
  readonly pages: number;
  readonly pass: number;
  /** Vendors seen, of how many that the list counts. */
  readonly seen: number;
  readonly total: number;
}
