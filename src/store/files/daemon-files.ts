/**
 * Checks that the files at their paths are those that the running daemon has open. It would continue to use a deleted or replaced file
 * while other processes use the new one.
 */
import { existsSync, statSync } from 'node:fs';
import { MirrorError } from '../../domain/errors.ts';
import { connectReader, type Sqlite } from '../sqlite/driver.ts';
import { isDaemonAt } from './side-lock.ts';
import { catalogued } from '../sqlite/sqlite-errors.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';
import { runQuery, mirrorSql, statement } from '../sqlite/statement.ts';
import type { DaemonFileTable } from '../tables/mirror-tables.ts';

/** The paths of an installation's two files. */
export interface FilePaths {
  readonly database: string;
  readonly secrets: string;
}

/**
 * Records which files the daemon has open. Runs inside a transaction of the mirror.
 * @returns whether the record of the previous daemon is still there: then it was killed.
 */
export function rememberDaemonFiles(sqlite: Sqlite, paths: FilePaths): boolean {
  const before = runQuery(sqlite, mirrorSql.selectFrom('_daemon_files').select('file'));
  const put = statement<DaemonFileTable>(sqlite, (at) =>
    mirrorSql
      .insertInto('_daemon_files')
      .values({ file: at('file'), inode: at('inode') })
      .onConflict((conflict) => conflict.column('file').doUpdateSet({ inode: at('inode') })),
  );
  put.run({ file: 'mirror', inode: inodeOf(paths.database) ?? '' });
  put.run({ file: 'secrets', inode: inodeOf(paths.secrets) ?? '' });
  return before.length > 0;
}

/** Records that the daemon stopped normally. Runs inside a transaction of the mirror. */
export function forgetDaemonFiles(sqlite: Sqlite): void {
  statement(sqlite, () => mirrorSql.deleteFrom('_daemon_files')).run({});
}

/**
 * Fails where a running daemon has other files open than those at these paths; creates no file.
 * @throws MirrorError `database_unusable` that names the file; as opening the mirror does.
 */
export function refuseOtherFiles(paths: FilePaths): void {
  const other = isDaemonAt(paths.database) ? otherFile(paths) : undefined;
  if (other !== undefined)
    throw new MirrorError(
      'database_unusable',
      `${other} is not the file that the running daemon has open: it was moved, deleted or replaced. Put it back, or restart the daemon.`,
    );
}

function otherFile(paths: FilePaths): string | undefined {
  if (!existsSync(paths.database)) return paths.database;
  const opened = new Map(rowsOf(paths.database).map(({ file, inode }) => [file, inode]));
  const differs = (file: DaemonFileTable['file'], path: string): boolean =>
    opened.has(file) && opened.get(file) !== inodeOf(path);
  if (differs('mirror', paths.database)) return paths.database;
  return differs('secrets', paths.secrets) ? paths.secrets : undefined;
}

function rowsOf(path: string): DaemonFileTable[] {
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectReader(path);
    const known = plainStatement(sqlite, "SELECT 1 FROM sqlite_schema WHERE name = '_daemon_files'").get({});
    return known ? runQuery(sqlite, mirrorSql.selectFrom('_daemon_files').selectAll()) : [];
  } catch (error) {
    throw catalogued(error, path);
  } finally {
    sqlite?.close();
  }
}

function inodeOf(path: string): string | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino.toString();
}
