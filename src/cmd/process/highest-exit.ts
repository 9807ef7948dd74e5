/** Several ends, told as one. */
import { exitStatus, type ExitStatus } from '../../domain/errors.ts';

/** The worst of some statuses; done where there are none. */
export function highestExit(statuses: readonly ExitStatus[]): ExitStatus {
  return statuses.reduce((highest, status) => (status > highest ? status : highest), exitStatus.done);
}
