/**
 * The result of one check of `doctor`, and what to do about it; and the checks of what the settings hold, of which `serve` warns too when it
 * starts, or does not start.
 */
import { timestamp } from '../domain/clock.ts';
import { inWords } from '../domain/duration.ts';
import { exitStatus, type ErrorCode, type ExitStatus, type MirrorError, asMirrorError } from '../domain/errors.ts';
import type { ProcessContext } from './process/process-context.ts';
import { refuseBadSchedules } from '../app/publications.ts';
import { hasWeakToken, strongToken, type Settings } from '../settings/parse.ts';
import { readableByAll } from '../settings/permissions.ts';

export interface Checkup {
  /** What was checked, in a word or two. */
  readonly check: string;
  readonly result: 'ok' | 'warning' | 'problem';
  readonly message: string;
  /** What to do; null where nothing needs doing. */
  readonly remedy: string | null;
  /** With what status a problem ends the command. */
  readonly exit: ExitStatus;
  /** The error of a problem, where it has a code. */
  readonly code?: ErrorCode | undefined;
}

export function fine(check: string, message: string): Checkup {
  return { check, result: 'ok', message, remedy: null, exit: exitStatus.done };
}

export function warning(check: string, message: string, remedy: string): Checkup {
  return { check, result: 'warning', message, remedy, exit: exitStatus.done };
}

export function problem(
  check: string,
  { message, hint, exit, code }: Pick<MirrorError, 'message' | 'hint' | 'exit'> & { readonly code?: ErrorCode },
): Checkup {
  return { check, result: 'problem', message, remedy: hint, exit, code };
}

/**
 * How long before its end a certificate should be renewed by now, in milliseconds, and as a part of its time: those that renew themselves do so 30
 * days before, or when a third of their time is left.
 */
const [renewalTime, renewalPart] = [21 * 86_400_000, 1 / 4];

/** The certificate of an https address that was reached; undefined where it has none, or cannot be seen, as through a proxy. */
export async function certificateCheckup(
  check: string,
  { proxyOf, certificateTimes, clock }: ProcessContext,
  address: string,
): Promise<Checkup | undefined> {
  const url = new URL(address);
  const times = (await proxyOf(url)) ? undefined : await certificateTimes(url);
  if (!times) return undefined;
  const { from, until } = times;
  const day = timestamp(until).slice(0, 10);
  const left = until - clock.now();
  const message = `The certificate of ${url.host} is valid until ${day}`;
  return left > Math.min(renewalTime, (until - from) * renewalPart)
    ? fine(check, `${message}.`)
    : warning(
        check,
        `${message}: ${inWords(Math.max(left, 0))} from now.`,
        'Renew it, and check what should renew it automatically.',
      );
}

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
