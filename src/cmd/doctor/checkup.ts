/** The result of one check of `doctor`, and what to do about it. */
import { exitStatus, type ErrorCode, type ExitStatus, type MirrorError } from '../../domain/errors.ts';

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

/** Something works less well than it could. */
export function warning(check: string, message: string, remedy: string): Checkup {
  return { check, result: 'warning', message, remedy, exit: exitStatus.done };
}

/** Something does not work. */
export function problem(
  check: string,
  { message, hint, exit, code }: Pick<MirrorError, 'message' | 'hint' | 'exit'> & { readonly code?: ErrorCode },
): Checkup {
  return { check, result: 'problem', message, remedy: hint, exit, code };
}
