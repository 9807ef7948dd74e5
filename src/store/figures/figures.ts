/** What the operator's page draws of one account: money, deliveries by the hour, and what happened lately. Plain data, that can pass between threads. */
import type { Change } from '../reports/change-feed.ts';
import type { FieldChange } from '../reports/field-changes.ts';
import type { FindingKind } from '../tables/mirror-tables.ts';

/** Minor units of a currency. */
export interface Owed {
  readonly outstanding: bigint;
  readonly overdue: bigint;
}

export interface CurrencyFigures extends Owed {
  readonly code: string;
  /** To how many active vendors something is outstanding now. */
  readonly vendors: number;
  /** Amounts that are no decimal number of that currency, and are left out. */
  readonly unreadable: number;
  /** At the end of each day in UTC, the last of them today until now. */
  readonly days: readonly (Owed & { readonly day: string })[];
}

/** One hour (UTC), `YYYY-MM-DD HH`. */
export interface HourFigures {
  readonly hour: string;
  readonly deliveries: number;
  /** Changes that sweeps met and no delivery has announced. */
  readonly missed: number;
  /** Changes that a delivery announced only after a sweep had met them, and by how many seconds at most. */
  readonly late: number;
  readonly latestSeconds: number | null;
}

/** How many versions of vendors began today (UTC): the first of a vendor, and others. */
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
  /** What it moved, field by field; empty where the sweep applied nothing. */
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
  /** The latest differences that sweeps met, newest first. */
  readonly found: readonly FoundFigure[];
  readonly gateways: readonly GatewayFigure[];
}
