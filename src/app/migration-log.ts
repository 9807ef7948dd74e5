/** How far a long migration has come, in the log: a line for every tenth part. */
import type { Log } from '../domain/log.ts';
import type { MirrorFile } from '../store/open/sqlite-store.ts';

export function migrationLog(log: Log): NonNullable<MirrorFile['onMigration']> {
  let told = -10;
  return ({ name, percent }) => {
    if (percent < told + 10) return;
    told = percent - (percent % 10);
    log.info({ migration: name, percent }, `the mirror is brought up to date: ${percent} %`);
  };
}
