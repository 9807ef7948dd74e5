/** Computes figures on a connection of their own, so that no delivery waits for them; the server does the work. */
import type { Clock } from '../../domain/clock.ts';
import type { PostgresStore } from '../../settings/parse.ts';
import { AccountFigures } from '../reports/account-figures.ts';
import type { Figures, FiguresService } from '../reports/figures.ts';
import { owedByAccount, type AccountOwed } from '../reports/owed.ts';
import { listVendors, type VendorFilter, type VendorList } from '../reports/vendor-list.ts';
import type { Connection } from '../sql/statement.ts';
import { PostgresDatabase } from './database.ts';
import { mirrorServer } from './server.ts';

interface FiguresOptions {
  readonly store: PostgresStore;
  readonly clock: Clock;
}

interface Opened {
  readonly database: PostgresDatabase;
  readonly figures: AccountFigures;
  readonly owed: () => Promise<readonly AccountOwed[]>;
}

export class FiguresSession implements FiguresService {
  readonly name = 'the figures';
  readonly #options: FiguresOptions;
  #opened: Opened | undefined;
  #isStopped = false;

  constructor(options: FiguresOptions) {
    this.#options = options;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#opened?.database.close();
  }

  read(accountId: string): Promise<Figures> {
    return this.#ask(({ figures }) => figures.read(accountId));
  }

  owed(): Promise<readonly AccountOwed[]> {
    return this.#ask(({ owed }) => owed());
  }

  browse(filter: VendorFilter): Promise<VendorList> {
    return this.#ask(({ database }) => listVendors(database.connection, filter));
  }

  async #ask<T>(question: (opened: Opened) => Promise<T>): Promise<T> {
    if (this.#isStopped) throw new Error('Stopping.');
    const opened = (this.#opened ??= this.#open());
    return await opened.database.read(() => question(opened));
  }

  #open(): Opened {
    const { store, clock } = this.#options;
    const database = PostgresDatabase.again({ server: mirrorServer(store), clock });
    const connection: Connection = database.connection;
    return { database, figures: new AccountFigures(connection, clock), owed: owedByAccount(connection) };
  }
}
