/** Moves a damaged mirror aside, so that a new one can be filled. */
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../domain/log.ts';
import { mirrorMigrations } from '../../store/files/mirror-options.ts';
import { quarantineIfDamaged } from '../../store/files/quarantine.ts';

/** Checks the mirror, and moves it aside if it is damaged. @returns whether it was. */
export async function quarantineDamaged(
  path: string,
  { clock, log, migrations }: { readonly clock: Clock; readonly log: Log; readonly migrations: string },
): Promise<boolean> {
  const damaged = await quarantineIfDamaged(path, clock, mirrorMigrations(migrations));
  if (damaged)
    log.error(
      { code: 'database_corrupt', faults: damaged.faults, moved_to: damaged.to },
      `${path} was damaged. It was moved to ${damaged.to}, and a new mirror is filled from the service; the history starts again.`,
    );
  return damaged !== undefined;
}
