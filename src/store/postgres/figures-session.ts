/** Computes figures on a connection of their own, so that no delivery waits for them; the server does the work. */
import { join } from 'node:path';
import type { Clock } from '../../domain/clock.ts';
import type { PostgresStore } from '../../settings/parse.ts';
import { AccountFigures } from '../reports/account-figures.ts';
import type { Figures, FiguresService } from '../reports/figures.ts';
import { owedByAccount, type AccountOwed } from '../reports/owed.ts';
import { listVendors, type VendorFilter, type VendorList } from '../reports/vendor-list.ts';
import type { Connection } from '../sql/statement.ts';
import { readMigrations } from '../sqlite/migrate.ts';
import { PostgresDatabase } from './database.ts';
import { mirrorServer } from './server.ts';

interface FiguresOptions {
  readonly store: PostgresStore;
  readonly clock: Clock;
  /** The folder with all migrations. */
  readonly migrations: string;
}

interface Opened {
  readonly database: PostgresDatabase;
  readonly figures: AccountFigures;
  readonly owed: () => Promise<readonly AccountOwed[]>;
}

export class FiguresSession implements FiguresService {
  readonly name = 'the figures';
  readonly #options: FiguresOptions;
  #opened: Promise<Opened> | undefined;
  #isStopped = false;

  constructor(options: FiguresOptions) {
    this.#options = options;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const opened = await this.#opened?.catch(() => undefined);
    await opened?.database.close();
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

  /** Connects with the first question, and again after one that failed. */
  async #ask<T>(question: (opened: Opened) => Promise<T>): Promise<T> {
    if (this.#isStopped) throw new Error('Stopping.');
    this.#opened ??= this.#open();
    const opened = await this.#opened.catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return opened.database.read(() => question(opened));
  }

  async #open(): Promise<Opened> {
    const { store, clock, migrations: folder } = this.#options;
    const migrations = readMigrations(join(folder, 'postgres'));
    const server = mirrorServer(store);
    const database = await PostgresDatabase.openToRead({ server, migrations, clock });
    if (!database) throw new Error('The mirror is gone.');
    const connection: Connection = database.connection;
    return { database, figures: new AccountFigures(connection, clock), owed: owedByAccount(connection) };
  }
}
