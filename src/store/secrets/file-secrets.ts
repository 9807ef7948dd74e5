/**
 * Secrets that are kept in a file.
 *
 * They belong to the mirror whose identity they hold, and follow it when it is moved or rebuilt. A different mirror is refused only while
 * their own is still in its place.
 */
import type { Clock } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import {
  endEpoch,
  enterEpoch,
  isMirrorAt,
  secretsClaim,
  type DaemonEpoch,
  type LeftRecord,
} from '../files/identity.ts';
import { shortLockWait } from '../sql/database.ts';
import type { SecretTables } from '../sql/schema.ts';
import { columns, secretSql, statement, type Connection } from '../sql/statement.ts';
import type { SqliteDatabase } from '../sqlite/database.ts';
import type { LeaseRule, Owner, SecretsPlace } from './secrets-place.ts';

export class FileSecrets implements SecretsPlace {
  readonly database: SqliteDatabase;
  readonly leases: LeaseRule;
  readonly #claim: (claimant: Owner) => Promise<void>;

  /** @param path as the settings name it */
  constructor(database: SqliteDatabase, path: string, clock: Pick<Clock, 'monotonic'>) {
    this.database = database;
    // All processes are on one machine. A lease that ends later than a new one is from before a restart of it.
    this.leases = {
      ...{ now: () => Math.floor(clock.monotonic()), tolerance: 0, endsWithProcess: true },
      // Longer than one refresh can take. That of a dead process ends at once.
      ...{ lasts: 180_000, renewedEvery: undefined },
    };
    this.#claim = ownerClaim(database.connection, path);
  }

  trouble(): MirrorError | undefined {
    return this.database.whyLost();
  }

  assertOurs(): void {
    this.database.assertOurs();
  }

  claim(owner: Owner): Promise<void> {
    return this.database.write(() => this.#claim(owner));
  }

  async beginDaemon(epoch: DaemonEpoch, left: LeftRecord, work: () => Promise<void>): Promise<boolean> {
    const { sqlite } = this.database;
    const isOlder = await this.database.write(async () => {
      await work();
      return enterEpoch(sqlite, epoch, left);
    });
    await this.database.requireClaim(secretsClaim(sqlite, epoch));
    return isOlder;
  }

  async endDaemon(epoch: DaemonEpoch): Promise<void> {
    const { sqlite } = this.database;
    const ended = await this.database.write(() => endEpoch(sqlite, epoch), shortLockWait);
    await this.database.requireClaim(secretsClaim(sqlite, ended));
  }

  copyJournal(): Promise<void> {
    return this.database.checkpoint();
  }
}

/**
 * Returns a function that makes a mirror the owner, if there is none, or if the current one is no longer at its path (moved here, rebuilt
 * or removed): two mirrors with the same secrets would treat each other's callbacks as their own. The function runs inside a transaction.
 * @throws MirrorError `secrets_taken` while another mirror is the owner.
 */
function ownerClaim(db: Connection, secretsPath: string): (claimant: Owner) => Promise<void> {
  const find = statement<object, SecretTables['owner']>(db, () =>
    secretSql.selectFrom('owner').select(['id', 'mirror_id', 'mirror_path', 'daemon_epoch']),
  );
  const write = statement<SecretTables['owner']>(db, (at) => {
    const values = columns(at, ['mirror_id', 'mirror_path', 'daemon_epoch']);
    return secretSql
      .insertInto('owner')
      .values({ id: at('id'), ...values })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(values));
  });
  return async ({ mirrorId, path, standsInFor }) => {
    const owner = await find.get({});
    if (owner?.mirror_id === mirrorId && owner.mirror_path === path) return;
    if (standsInFor !== undefined && owner?.mirror_path === standsInFor) return;
    if (owner && owner.mirror_id !== mirrorId && isMirrorAt(owner.mirror_path, owner.mirror_id))
      throw new MirrorError('secrets_taken', `${secretsPath} belongs to another mirror, ${owner.mirror_path}.`);
    if (standsInFor === undefined) write.send({ id: 1, mirror_id: mirrorId, mirror_path: path, daemon_epoch: 0 });
  };
}
