/** `doctor` on what the settings hold: `serve` warns of the same when it starts, or does not start. */
import { refuseBadSchedules } from '../app/publications.ts';
import { asMirrorError } from '../domain/errors.ts';
import { hasWeakToken, strongToken, type Settings } from '../settings/parse.ts';
import { readableByAll } from '../settings/permissions.ts';
import { fine, problem, warning, type Checkup } from './doctor-checkup.ts';

export function settingsCheckups(settings: Settings): Checkup[] {
  const { accounts } = settings;
  const count = accounts.length === 1 ? 'one account' : `${accounts.length} accounts`;
  return [fine('settings', `The settings name ${count}.`), ...scheduleCheckups(settings), ...secretCheckups(settings)];
}

function scheduleCheckups(settings: Settings): Checkup[] {
  try {
    refuseBadSchedules(settings);
    return [];
  } catch (error) {
    return [problem('schedules', asMirrorError(error))];
  }
}

/** Only where something should be done. */
export function secretCheckups({ admin, secretFiles }: Settings): Checkup[] {
  const open = secretFiles.filter(readableByAll);
  return [...new Set(open)].map(openFile).concat(hasWeakToken(admin) ? weakToken() : []);
}

/** Of a file that holds a secret. */
export function openFile(path: string): Checkup {
  return warning('secret files', `Everybody on this machine may read ${path}.`, `Run: chmod o-rwx ${path}`);
}

function weakToken(): Checkup {
  return warning('admin token', 'admin.token is soon guessed.', `It ${strongToken}.`);
}
