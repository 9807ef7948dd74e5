/**
 * The epoch of the daemon in both of its files. The lock beside the mirror excludes a second daemon, but may be removed; and a file can be
 * overwritten without a change of name or inode. So a daemon takes the next epoch when it starts, and checks it in each transaction.
 */
import type { Selectable } from 'kysely';
import { MirrorError } from '../../domain/errors.ts';
import type { Claim } from '../sqlite/database.ts';
import { connectReader, type Sqlite } from '../sqlite/driver.ts';
import type { SecretTables } from '../tables/secret-tables.ts';
import { isBusy } from '../sqlite/sqlite-errors.ts';
import { mirrorSql, secretSql, statement } from '../sqlite/statement.ts';
import type { IdentityTable } from '../tables/mirror-tables.ts';

/** A mirror, and the number of daemons that have used it. */
export type DaemonEpoch = Selectable<Pick<IdentityTable, 'mirror_id' | 'daemon_epoch'>>;

/** Takes the next epoch. Runs inside a transaction of the mirror. */
export function nextEpoch(sqlite: Sqlite): DaemonEpoch {
  statement(sqlite, () =>
    mirrorSql.updateTable('mirror_identity').set((row) => ({ daemon_epoch: row('daemon_epoch', '+', 1) })),
  ).run({});
  const epoch = inMirror(sqlite).get({});
  if (!epoch) throw new Error('The mirror has no identity.');
  return epoch;
}

/** Records the epoch in the secrets. Runs inside a transaction of the secrets, after the mirror has claimed them. */
export function enterEpoch(sqlite: Sqlite, { daemon_epoch }: DaemonEpoch): void {
  statement<Pick<SecretTables['owner'], 'daemon_epoch'>>(sqlite, (at) =>
    secretSql.updateTable('owner').set({ daemon_epoch: at('daemon_epoch') }),
  ).run({ daemon_epoch });
}

export function mirrorClaim(sqlite: Sqlite, own: DaemonEpoch): Claim {
  return claimOf(sqlite, own, inMirror);
}

export function secretsClaim(sqlite: Sqlite, own: DaemonEpoch): Claim {
  return claimOf(sqlite, own, inSecrets);
}

type EpochQuery = (sqlite: Sqlite) => { get(values: object): DaemonEpoch | undefined };

const inMirror: EpochQuery = (sqlite) =>
  statement<object, DaemonEpoch>(sqlite, () =>
    mirrorSql.selectFrom('mirror_identity').select(['mirror_id', 'daemon_epoch']),
  );

const inSecrets: EpochQuery = (sqlite) =>
  statement<object, DaemonEpoch>(sqlite, () => secretSql.selectFrom('owner').select(['mirror_id', 'daemon_epoch']));

function claimOf(sqlite: Sqlite, own: DaemonEpoch, query: EpochQuery): Claim {
  const path = sqlite.name;
  const find = query(sqlite);
  return { check: () => difference(path, own, find.get({})), checkAtPath: () => foundAt(path, own, query) };
}

/** Through a new connection, because an existing one would answer from its cache. A locked file counts as ours. */
function foundAt(path: string, own: DaemonEpoch, query: EpochQuery): MirrorError | undefined {
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectReader(path);
    return difference(path, own, query(sqlite).get({}));
  } catch (error) {
    return isBusy(error) ? undefined : difference(path, own, undefined, error);
  } finally {
    sqlite?.close();
  }
}

function difference(path: string, own: DaemonEpoch, there: DaemonEpoch | undefined, cause?: unknown) {
  if (there?.mirror_id === own.mirror_id) {
    if (there.daemon_epoch === own.daemon_epoch) return undefined;
    if (there.daemon_epoch > own.daemon_epoch)
      return new MirrorError('already_running', `Another daemon has taken over ${path}; this one writes nothing more.`);
  }
  return new MirrorError('database_unusable', `${path} was overwritten with another file while it was in use.`, {
    cause,
  });
}
