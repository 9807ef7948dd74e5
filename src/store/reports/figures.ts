/**
 * The figures of one account for the dashboard: money, deliveries by hour, recent findings. Plain data that can be sent between threads.
 */
import { Worker } from 'node:worker_threads';
import type { Service } from '../../domain/concurrency.ts';
import type { FindingKind } from '../sql/schema.ts';
import type { Change, FieldChange } from './change-feed.ts';
import type { AccountOwed, Owed, OwedReport, Payables } from './owed.ts';
import type { VendorFilter, VendorList } from './vendor-list.ts';

export interface CurrencyFigures extends Owed {
  readonly code: string;
  /** Number of active vendors with an outstanding amount. */
  readonly vendors: number;
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

/** A change of a name, account number, contact or address, and the user that its webhook named. */
export interface ContactFigure {
  readonly at: string;
  readonly source: Change['source'];
  readonly user: number | null;
  readonly vendorid: number;
  readonly vendor: string | null;
  readonly change: FieldChange;
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
  /** What is owed to active vendors. */
  readonly money: readonly CurrencyFigures[];
  readonly owed: OwedReport;
  readonly payables: Payables;
  /** Those of the last seven days, newest first. */
  readonly contacts: readonly ContactFigure[];
  readonly hours: readonly HourFigures[];
  readonly today: TodayFigures;
  /** The latest changes, newest first. */
  readonly changes: readonly ChangeFigure[];
  /** Of the latest findings those that are more than a balance, newest first. */
  readonly found: readonly FoundFigure[];
  /** Changes of a balance alone that sweeps found in the last seven days; no delivery announces them. */
  readonly balancesFound: number;
  readonly gateways: readonly GatewayFigure[];
}

export interface FiguresQuestion {
  readonly id: number;
  /** The figures of an account, a list of vendors, or, null, what is owed in every account. */
  readonly asked: string | VendorFilter | null;
}

export type FiguresAnswer =
  | { readonly id: number; readonly figures: Figures | VendorList | readonly AccountOwed[] }
  | { readonly id: number; readonly error: string };

interface Waiting {
  readonly resolve: (figures: never) => void;
  readonly reject: (error: Error) => void;
}

export interface FiguresService extends Service {
  /** The figures of an account. @throws Error where they cannot be computed. */
  read(accountId: string): Promise<Figures>;
  /** What is owed to active vendors in every account. @throws Error as `read`. */
  owed(): Promise<readonly AccountOwed[]>;
  /** Lists vendors in an order that needs a look at all of them. @throws Error as `read`. */
  browse(filter: VendorFilter): Promise<VendorList>;
}

/** The thread that computes figures: started with the first request, ended with the daemon. */
export class FiguresThread implements FiguresService {
  readonly name = 'the figures thread';
  readonly #program: string;
  readonly #path: string;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #asked = 0;
  #stopped = false;

  /** `program` is the path of the compiled thread, `path` that of the mirror. */
  constructor(program: string, path: string) {
    this.#program = program;
    this.#path = path;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#worker?.terminate();
  }

  read(accountId: string): Promise<Figures> {
    return this.#ask(accountId);
  }

  owed(): Promise<readonly AccountOwed[]> {
    return this.#ask(null);
  }

  browse(filter: VendorFilter): Promise<VendorList> {
    return this.#ask(filter);
  }

  #ask<T>(asked: FiguresQuestion['asked']): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#stopped) throw new Error('Stopping.');
      const id = ++this.#asked;
      this.#waiting.set(id, { resolve, reject });
      this.#begun().postMessage({ id, asked } satisfies FiguresQuestion);
    });
  }

  #begun(): Worker {
    if (this.#worker) return this.#worker;
    // The environment may contain secrets.
    const worker = new Worker(this.#program, { workerData: { path: this.#path }, env: {} });
    this.#worker = worker;
    worker.unref();
    worker.on('message', (answer: FiguresAnswer) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if ('figures' in answer) waiting?.resolve(answer.figures as never);
      else waiting?.reject(new Error(answer.error));
    });
    let fault = new Error('The figures thread ended.');
    worker.on('error', (error) => (fault = error));
    worker.on('exit', () => {
      this.#worker = undefined;
      for (const { reject } of this.#waiting.values()) reject(fault);
      this.#waiting.clear();
    });
    return worker;
  }
}
