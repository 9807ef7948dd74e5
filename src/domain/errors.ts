/** The catalogue of expected errors: code, exit status, whether a retry may help, and what to do. */

/** Exit statuses, after sysexits. */
export const exitStatus = {
  done: 0,
  incomplete: 1,
  usage: 64,
  unavailable: 69,
  bug: 70,
  file: 74,
  locked: 75,
  refused: 77,
  settings: 78,
} as const;

export type ExitStatus = (typeof exitStatus)[keyof typeof exitStatus];

interface Entry {
  readonly exit: ExitStatus;
  /** Whether the same attempt may succeed later. */
  readonly retry: boolean;
  readonly hint: string;
}

const entry = (exit: ExitStatus, retry: boolean, hint: string): Entry => ({ exit, retry, hint });
const { incomplete, usage, unavailable, bug, file, locked, refused, settings } = exitStatus;

export const catalogue = {
  usage: entry(usage, false, 'See `vendor-mirror --help`.'),
  settings_invalid: entry(settings, false, 'Fix the settings named above; config/default.yaml documents every key.'),
  settings_unreadable: entry(settings, false, 'Name an existing, readable file with -c or VENDOR_MIRROR_CONFIG.'),

  other_service: entry(
    settings,
    false,
    'If it is the same service at a new address, run `vendor-mirror doctor --accept-service`; otherwise name another database.',
  ),

  service_unreachable: entry(unavailable, true, 'Check service.baseUrl, the network and the name server.'),
  service_timeout: entry(unavailable, true, 'The service is slow or hangs; try again later, or raise service.timeout.'),
  service_unavailable: entry(unavailable, true, 'The service reports an internal error; try again later.'),
  rate_limited: entry(unavailable, true, 'Too many requests; lower service.rateLimit, or try again later.'),
  answer_unreadable: entry(
    unavailable,
    true,
    'The answer did not come from the service, or was cut off; try again later.',
  ),
  answer_too_large: entry(unavailable, false, 'An answer exceeded the limits; lower service.paging.perPage.'),
  redirected: entry(
    unavailable,
    false,
    'Redirects are never followed, because they would carry the token; name the final address in the settings (service.baseUrl, or tokenUrl).',
  ),
  row_unusable: entry(unavailable, false, 'A row of a list has no usable id; report it to the service.'),

  unauthenticated: entry(refused, false, 'The token is unknown or expired: set a new one.'),
  token_unusable: entry(refused, false, 'Correct the file or the command that should give the token.'),
  access_denied: entry(
    refused,
    false,
    'Check the id of the account, then that the person behind the token may see bill vendors there (role and plan), then that the token has the scope user:bill_vendors:read.',
  ),
  rejected: entry(refused, false, 'Correct what the message names.'),
  not_found: entry(refused, false, 'The service has no such resource; check the id and the account.'),
  not_supported: entry(refused, false, 'The service does not offer this operation.'),
  wrong_passphrase: entry(refused, false, 'Try again with the passphrase that the secrets were exported with.'),
  token_refresh_failed: entry(refused, false, 'Run `vendor-mirror login`, or store a new refresh token.'),

  receiver_failing: entry(
    unavailable,
    true,
    'Check the receiver; waiting messages are sent again automatically, and `vendor-mirror notify list` shows what was given up.',
  ),
  receiver_gone: entry(
    refused,
    false,
    'Remove the target from `notify`, or run `vendor-mirror notify retry` once its receiver is back.',
  ),

  history_gone: entry(incomplete, false, 'Read all vendors again, and continue from the cursor named above.'),
  paging_ignored: entry(
    incomplete,
    false,
    'Check service.paging.pageParam: the service answers requests for other pages with the first.',
  ),
  sweep_incomplete: entry(
    incomplete,
    true,
    'Run it again; the list changed while it was read, or the service answered only in part.',
  ),
  record_rejected: entry(
    incomplete,
    false,
    'Everything else was applied. The findings of the run say why each record was rejected; report them to the service.',
  ),
  too_many_unreadable: entry(
    incomplete,
    false,
    'Give the token a role that may read all bill vendors. If it shall not, accept it: `vendor-mirror reconcile --accept-unreadable N`.',
  ),
  list_refuted: entry(
    incomplete,
    true,
    'Report it to the service: its list leaves out vendors that it shows by id. If it is to stay so, accept it: `vendor-mirror reconcile --accept-unreadable N`.',
  ),
  breaker_tripped: entry(
    incomplete,
    false,
    'If these vendors are really gone, allow it: `vendor-mirror reconcile --approve-absences N`.',
  ),
  interrupted: entry(incomplete, true, 'Run it again.'),
  differences: entry(incomplete, false, 'Run `vendor-mirror reconcile`.'),
  not_compared: entry(incomplete, false, 'Run `vendor-mirror verify --full`, which reads all vendors by id.'),
  not_taken: entry(incomplete, false, 'The mirror holds what the service answered; check the vendor in the service.'),
  unknown_vendor: entry(incomplete, false, 'Check the number and the account, or run `vendor-mirror sync`.'),

  database_unusable: entry(
    file,
    false,
    'Check the path, its permissions and the disk, and run commands as the user of the service.',
  ),
  database_older: entry(
    file,
    false,
    'Run `vendor-mirror sync` once; it migrates the file, and so does a start of the daemon.',
  ),
  database_newer: entry(file, false, 'The file was written by a newer vendor-mirror; install that version.'),
  database_corrupt: entry(
    file,
    false,
    'Move the file away and run `vendor-mirror sync`, which reads everything from the service again.',
  ),
  migration_failed: entry(file, false, 'Nothing was changed. Report this with the message above.'),
  disk_full: entry(file, true, 'Free space on the disk that holds the database.'),
  postgres_failed: entry(
    unavailable,
    true,
    'See that the server runs, can be reached, and has free disk and connections; until then it is tried again.',
  ),
  postgres_refused: entry(
    refused,
    false,
    'Check user, password, database and certificate; the user needs the right to create the schema, or all rights on it.',
  ),
  postgres_tables: entry(
    file,
    false,
    'Undo what was changed, install the version that made the tables, or drop the schema: then it is filled anew.',
  ),
  postgres_taken: entry(
    locked,
    true,
    'Stop the other installation, or publish from one of them only. If it no longer exists, wait until then, or set kept_until in the table mirrors to now().',
  ),
  copy_too_slow: entry(file, true, 'Publish less of it (a view or a query), on a schedule, or to a faster disk.'),
  file_unwritable: entry(
    file,
    false,
    'Check the path and its permissions, and run commands as the user of the service.',
  ),
  secrets_export_unusable: entry(file, false, 'Use another copy of the file, or export the secrets again.'),
  secrets_key_unusable: entry(
    settings,
    false,
    'Name a file in `secretsKeyFile` that holds a key, such as `openssl rand -hex 32` prints; while it is replaced, the new one and below it the old one.',
  ),
  secrets_key_unknown: entry(
    settings,
    false,
    'Put the key with this id back into the file of `secretsKeyFile`, as its second line.',
  ),
  secrets_altered: entry(
    file,
    false,
    'Restore the schema of the secrets from a backup. Without one, drop it: callbacks are registered anew, and `vendor-mirror login` gets new tokens.',
  ),

  driver_unusable: entry(
    file,
    false,
    'Install the packages again with npm, optional ones included: `npm ci` in a checkout, `npm install --global` elsewhere.',
  ),

  port_taken: entry(unavailable, false, 'Stop the other program, or choose another port.'),

  database_locked: entry(locked, true, 'Another program holds the database; end its transaction, or try again later.'),
  already_running: entry(locked, false, 'Another `vendor-mirror serve` uses this database; stop it first.'),
  secrets_shared: entry(
    locked,
    false,
    'If one of the two is a copy, such as a restored backup: stop it, delete its secrets file, and start it again; it makes new ones. Then `vendor-mirror callbacks delete` removes the callback that it left.',
  ),
  secrets_taken: entry(locked, false, 'Each mirror needs its own secrets; name another file in `secrets`.'),

  bug: entry(bug, false, 'This is a bug in vendor-mirror; please report it with the lines above.'),
} as const satisfies Record<string, Entry>;

export type ErrorCode = keyof typeof catalogue;

/** What says that the service refuses access, or that there is no token to ask it with. */
export const accessRefusals = ['unauthenticated', 'token_unusable', 'access_denied', 'token_refresh_failed'] as const;

/** Whether there is no token that the service accepts: that says nothing of an account, or of what was asked for. */
export function isOfToken(code: string): boolean {
  return code === 'unauthenticated' || code === 'token_unusable' || code === 'token_refresh_failed';
}

/** Whether there is no access to the service. Only a person can solve that, so it is reported at once, at level error. */
export function isAccessRefused(code: ErrorCode): boolean {
  return (accessRefusals as readonly string[]).includes(code);
}

/** An expected failure. Its message says what happened, and never contains a secret. */
export class MirrorError extends Error {
  override readonly name = 'MirrorError';
  readonly code: ErrorCode;
  /** HTTP status of the answer that caused it, if one did. */
  readonly status: number | undefined;
  /** The service's own error number, if it gave one. */
  readonly errno: number | undefined;
  /** The wait that the service asked for, in milliseconds. */
  readonly retryAfter: number | undefined;
  /** The request was a write, and may have been carried out although it failed. */
  readonly mayBeDone: boolean;
  /** What to do about this cause, where more is known of it than its code. */
  readonly remedy: string | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    facts: Partial<Pick<MirrorError, 'status' | 'errno' | 'retryAfter' | 'mayBeDone' | 'remedy' | 'cause'>> = {},
  ) {
    super(message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.code = code;
    this.status = facts.status;
    this.errno = facts.errno;
    this.retryAfter = facts.retryAfter;
    this.mayBeDone = facts.mayBeDone ?? false;
    this.remedy = facts.remedy;
  }

  get exit(): ExitStatus {
    return catalogue[this.code].exit;
  }

  get retry(): boolean {
    return catalogue[this.code].retry;
  }

  get hint(): string {
    return this.remedy ?? catalogue[this.code].hint;
  }
}

const noWorkingDirectory =
  'The working directory was removed, and a relative path begins there. Change to a folder that exists, or name absolute paths.';

const writablePlace = 'Mount the file system so that it can be written, or check the path and name another one.';

const moreDescriptors =
  'Let this process open more files: `ulimit -n 1024` where it is started, or LimitNOFILE in the unit of systemd.';

/** Any thrown value as a MirrorError; an unknown error is a bug. */
export function asMirrorError(error: unknown): MirrorError {
  if (error instanceof MirrorError) return error;
  if (error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd')
    return new MirrorError('settings_invalid', noWorkingDirectory, { cause: error });
  if (hasCode(error, 'EROFS'))
    return new MirrorError('file_unwritable', withFullStop(error.message), { cause: error, remedy: writablePlace });
  if (hasCode(error, 'ENOSPC', 'EDQUOT'))
    return new MirrorError('disk_full', withFullStop(error.message), { cause: error });
  if (hasCode(error, 'EACCES', 'EPERM'))
    return new MirrorError('file_unwritable', `${withFullStop(error.message)} ${thisUser()} may not do that.`, {
      cause: error,
    });
  if (hasCode(error, 'EMFILE', 'ENFILE'))
    return new MirrorError('file_unwritable', withFullStop(error.message), { cause: error, remedy: moreDescriptors });
  return new MirrorError('bug', error instanceof Error ? error.message : String(error), { cause: error });
}

/** A text, of whomever it is, as the end of a sentence: with one full stop. */
export function withFullStop(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** What an error says, with a full stop at its end. */
export function errorSentence(error: unknown): string {
  return withFullStop(asMirrorError(error).message);
}

export function withRemedy(error: MirrorError, remedy: string): MirrorError {
  return withMessage(error, error.message, error.retryAfter, remedy);
}

/** Whether it is an error of the system with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): error is Error {
  return codes.includes(codeOf(error) ?? '');
}

/** The code of an error of the system, such as ENOENT; undefined for anything else. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Who this process is to the system. */
export function thisUser(): string {
  const uid = process.geteuid?.();
  return uid === undefined ? 'This user' : `This user (${uid === 0 ? 'root' : `uid ${uid}`})`;
}

/** The same error with another message, and optionally with the wait that the service asked for. */
export function withMessage(
  error: MirrorError,
  message: string,
  retryAfter = error.retryAfter,
  remedy = error.remedy,
): MirrorError {
  const { code, status, errno, mayBeDone, cause } = error;
  return new MirrorError(code, message, { status, errno, retryAfter, mayBeDone, remedy, cause });
}
