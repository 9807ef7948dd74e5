/**
 * The accounts of the mirror: which settings file names each, those that commands added, and those that commands paused.
 *
 * Added accounts (`_added_accounts`) are merged with those of the settings, so that every command and the daemon see one list; the settings
 * take precedence, because a person reads them there. A daemon that rebuilds a damaged mirror serves added accounts until it ends; then they
 * must be added again, and `status` says that they are no longer in the settings. Which accounts are paused stands in the mirror, for those
 * of the settings too: an operator must be able to pause one without editing a file that may be under version control.
 *
 * A daemon looks at the mirror once a second (`PRAGMA data_version`, which costs no read where no other process wrote), because signals and
 * process ids do not reach across containers.
 */
import { type Selectable } from 'kysely';
import { timestamp } from '../domain/clock.ts';
import type { KeptAccounts } from '../settings/parse.ts';
import { keptAccounts, mayStopServing, type ServedAccounts } from './reports/known-accounts.ts';
import { Transacted } from './sql/database.ts';
import { statement, Operations, type OfAccount } from './sql/statement.ts';
import type { MirrorTables } from './sql/schema.ts';

/** Accounts that commands added to those of the settings, and accounts that commands paused. */
export class AccountRegister extends Transacted {
  readonly #add = statement(this.db)<OfAccount & { connection: string; addedAt: string }>`
    INSERT INTO _added_accounts (account_id, connection, added_at)
    VALUES (${'accountId'}, ${'connection'}, ${'addedAt'})
     ON CONFLICT DO NOTHING`;
  readonly #remove = statement(this.db)<OfAccount>`DELETE FROM _added_accounts WHERE account_id = ${'accountId'}`;
  readonly #know = statement(this.db)<OfAccount & { addedAt: string }>`
    INSERT INTO _accounts (account_id, added_at)
    VALUES (${'accountId'}, ${'addedAt'}) ON CONFLICT DO NOTHING`;
  readonly #pause = statement(this.db)<OfAccount & { pausedSince: string }>`
    UPDATE _accounts SET paused_since = ${'pausedSince'}
    WHERE account_id = ${'accountId'} AND paused_since IS NULL`;
  readonly #resume = statement(this.db)<OfAccount>`
    UPDATE _accounts SET paused_since = NULL WHERE account_id = ${'accountId'} AND paused_since IS NOT NULL`;
  readonly #counts = statement(this.db)<OfAccount, { accepted: number; miscounted: number }>`
    SELECT accepted_unreadable AS accepted, miscounted FROM _accounts WHERE account_id = ${'accountId'}`;
  readonly #accept = statement(this.db)<OfAccount & { accepted: number; acceptedAt: string | null }>`
    UPDATE _accounts SET accepted_unreadable = ${'accepted'}, accepted_at = ${'acceptedAt'}
    WHERE account_id = ${'accountId'}`;
  readonly #miscount = statement(this.db)<OfAccount & { miscounted: number }>`
    UPDATE _accounts SET miscounted = ${'miscounted'} WHERE account_id = ${'accountId'}`;
  /** The last state, and its `PRAGMA data_version`, which changes when another connection commits. */
  #seen: { readonly version: string | undefined; readonly kept: KeptAccounts } | undefined;

  /** @returns false where it was added before; then nothing changes. */
  add(accountId: string, connection: string): Promise<boolean> {
    const addedAt = timestamp(this.clock.now());
    return this.database.write(async () => (await this.#add.run({ accountId, connection, addedAt })) > 0);
  }

  /** Its stored data stays; it is no longer paused. @returns whether it had been added. */
  remove(accountId: string): Promise<boolean> {
    return this.database.write(async () => {
      const isRemoved = (await this.#remove.run({ accountId })) > 0;
      if (isRemoved) this.#resume.send({ accountId });
      return isRemoved;
    });
  }

  /** @returns false where it was paused before. */
  pause(accountId: string): Promise<boolean> {
    const now = timestamp(this.clock.now());
    return this.database.write(async () => {
      this.#know.send({ accountId, addedAt: now });
      return (await this.#pause.run({ accountId, pausedSince: now })) > 0;
    });
  }

  /** @returns false where it was not paused. */
  resume(accountId: string): Promise<boolean> {
    return this.database.write(async () => (await this.#resume.run({ accountId })) > 0);
  }

  listCount(accountId: string): Promise<ListCount> {
    return this.database.read(async () => {
      const { accepted = 0, miscounted = 0 } = (await this.#counts.get({ accountId })) ?? {};
      return { accepted, miscounted: miscounted === 1 };
    });
  }

  /** A person accepts that the service counts so many vendors that it does not show; 0 takes that back. */
  acceptUnreadable(accountId: string, accepted: number): Promise<void> {
    const now = timestamp(this.clock.now());
    return this.database.write(() => {
      this.#know.send({ accountId, addedAt: now });
      this.#accept.send({ accountId, accepted, acceptedAt: accepted === 0 ? null : now });
    });
  }

  /** Whether the list of an account shows more vendors than the service counts. */
  noteMiscounted(accountId: string, miscounted: boolean): Promise<void> {
    return this.database.write(() => {
      this.#miscount.send({ accountId, miscounted: Number(miscounted) });
    });
  }

  /** The current state. The same object as before where no other process wrote since, which only costs reading shared memory. */
  async kept(): Promise<KeptAccounts> {
    const { connection: db } = this.database;
    const version = await this.database.readOne(() => this.database.connection.version());
    if (this.#seen && version !== undefined && this.#seen.version === version) return this.#seen.kept;
    const kept = await this.database.read(() => keptAccounts(db));
    this.#seen = { version, kept };
    return kept;
  }
}

export interface ListCount {
  /** How many vendors that the service counts and does not show a person accepted. */
  readonly accepted: number;
  /** The last complete sweep showed more vendors than the service counts. */
  readonly miscounted: boolean;
}

type AccountRow = Pick<
  Selectable<MirrorTables['_accounts']>,
  'account_id' | 'not_served_since' | 'settings_file' | 'connection'
>;

/** The accounts of the mirror, and which settings file names each. Each method runs inside a transaction. */
export class AccountRows extends Operations {
  readonly #insert = statement(this.db)<{ account_id: string; added_at: string }>`
    INSERT INTO _accounts (account_id, added_at) VALUES (${'account_id'}, ${'added_at'})
    ON CONFLICT DO NOTHING`;
  readonly #accounts = statement(this.db)<object, AccountRow>`
    SELECT account_id, not_served_since, settings_file, connection FROM _accounts ORDER BY account_id`;
  readonly #setServed = statement(this.db)<AccountRow>`
    UPDATE _accounts SET not_served_since = ${'not_served_since'}, settings_file = ${'settings_file'},
      connection = ${'connection'}
    WHERE account_id = ${'account_id'}`;

  add(accountId: string, now: number): void {
    this.#insert.send({ account_id: accountId, added_at: timestamp(now) });
  }

  /** Records which accounts a settings file names. @returns those that it no longer names. */
  async serve({ accounts: served, connectionOf, settingsFile }: ServedAccounts, now: number): Promise<string[]> {
    const named = new Set(served);
    const left: string[] = [];
    for (const row of await this.#accounts.all({})) {
      const { account_id, not_served_since, settings_file } = row;
      if (named.has(account_id)) {
        const connection = connectionOf.get(account_id) ?? row.connection;
        if (not_served_since === null && settings_file === settingsFile && connection === row.connection) continue;
        this.#setServed.send({ account_id, not_served_since: null, settings_file: settingsFile, connection });
      } else if (not_served_since === null && mayStopServing(settings_file, settingsFile)) {
        this.#setServed.send({ ...row, not_served_since: timestamp(now), settings_file: settingsFile });
        left.push(account_id);
      }
    }
    return left;
  }
}
