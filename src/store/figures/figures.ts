/**
 * The figures of one account for the dashboard: money, deliveries by hour, recent findings. Plain data that can be sent between threads.
 */
import type { Change } from '../reports/change-feed.ts';
import type { FieldChange } from '../reports/field-changes.ts';
import type { FindingKind } from '../tables/mirror-tables.ts';

/** In minor units of a currency. */
export interface Owed {
  readonly outstanding: bigint;
  readonly overdue: bigint;
}

export interface CurrencyFigures extends Owed {
  readonly code: string;
  /** Number of active vendors with an outstanding amount. */
  readonly vendors: number;
  /** Amounts that are not decimal numbers of the currency, and are left out. */
  readonly unreadable: number;
  /** At the end of each day (UTC); the last entry is today until now. */
  readonly days: readonly (Owed & { readonly day: string })[];
}

/** One hour (UTC), `YYYY-MM-DD HH`. */
export interface HourFigures {
  readonly hour: string;
  readonly deliveries: number;
  /** Changes that sweeps found and no delivery announced. */
  readonly missed: number;
  /** Changes that a delivery announced after a sweep had found them, and the longest delay in seconds. */
  readonly late: number;
  readonly latestSeconds: number | null;
}

/** How many versions of vendors began today (UTC): first versions, and others. */
export interface TodayFigures {
  readonly day: string;
  readonly created: number;
  readonly changed: number;
}

/** A change of a vendor, from what to what. */
export interface ChangeFigure {
  readonly at: string;
  readonly kind: Change['kind'];
  /** How we learned of it. */
  readonly source: Change['source'];
  readonly vendorid: number;
  readonly vendor: string | null;
  readonly changes: readonly FieldChange[];
}

export interface FoundFigure {
  readonly at: string;
  readonly kind: FindingKind;
  readonly vendorid: number | null;
  readonly vendor: string | null;
  readonly fields: string;
  /** The changed values, field by field; empty where the sweep applied nothing. */
  readonly changes: readonly FieldChange[];
}

export interface GatewayFigure {
  readonly sgid: number;
  readonly name: string | null;
  readonly since: string;
  readonly removed: string | null;
}

export interface Figures {
  readonly money: readonly CurrencyFigures[];
  readonly hours: readonly HourFigures[];
  readonly today: TodayFigures;
  /** The latest changes, newest first. */
  readonly changes: readonly ChangeFigure[];
  /** The latest findings, newest first. */
  readonly found: readonly FoundFigure[];
  readonly gateways: readonly GatewayFigure[];
}
