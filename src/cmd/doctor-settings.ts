/** `doctor` on what the settings hold: `serve` warns of the same when it starts. */
import { hasWeakToken, strongToken, type Settings } from '../settings/parse.ts';
import { fine, warning, type Checkup } from './doctor-checkup.ts';

export function settingsCheckups(settings: Settings): Checkup[] {
  const { accounts } = settings;
  const count = accounts.length === 1 ? 'one account' : `${accounts.length} accounts`;
  return [fine('settings', `The settings name ${count}.`), ...secretCheckups(settings)];
}

/** Only where something should be done. */
export function secretCheckups({ admin }: Settings): Checkup[] {
  if (!hasWeakToken(admin)) return [];
  return [warning('admin token', 'admin.token is soon guessed.', `It ${strongToken}.`)];
}
