/** How far a long migration has come, in the log: a line for every tenth part. */
import type { Log } from '../domain/log.ts';
import type { MirrorFile } from '../store/open/sqlite-store.ts';

export function migrationLog(log: Log): NonNullable<MirrorFile['onMigration']> {
  let reported = -10;
  return ({ name, percent }) => {
    if (percent < reported + 10) return;
    reported = percent - (percent % 10);
    log.info({ migration: name, percent }, `migrating the mirror: ${percent} %`);
  };
}
