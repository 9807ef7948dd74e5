/** The exit status of several results. */
import { exitStatus, type ExitStatus } from '../../domain/errors.ts';

/** The highest of some statuses; `done` if there are none. */
export function highestExit(statuses: readonly ExitStatus[]): ExitStatus {
  return statuses.reduce((highest, status) => (status > highest ? status : highest), exitStatus.done);
}
