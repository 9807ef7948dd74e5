/**
 * Which failures of accounts are logged: a cause that hits many accounts of a connection is one line when it begins, which says how many it may
 * hit, and one when it is over for all that it hit; not one for each account and attempt. `status` names the accounts meanwhile.
 *
 * A cause is an error code in a connection; access that is denied is one for lists and another for callbacks, which need other scopes. Only what is wrong with the service, the grant or the files counts as one: what is wrong with the list of one account
 * is logged each time. A refused token is logged by its connection.
 */
import type { Clock } from './clock.ts';
import { seconds } from './duration.ts';
import { isOfToken, type ErrorCode } from './errors.ts';
import type { Log } from './log.ts';

interface CauseLogOptions {
  readonly connectionOf: (accountId: string) => string;
  /** The accounts that are served. */
  readonly accounts: () => readonly string[];
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/** What a line says of a cause that begins. */
interface Beginning {
  readonly facts: { readonly connection?: string; readonly accounts?: number };
  /** Follows the message. */
  readonly words: string;
}

interface Cause {
  readonly connection: string;
  readonly code: string;
  readonly since: number;
  /** What fails now, of which accounts. */
  readonly failing: Set<string>;
  /** All accounts that it hit. */
  readonly accounts: Set<string>;
}

type FailureCode = ErrorCode | 'unverified';

const ofMany: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'unverified',
  'access_denied',
  'service_unreachable',
  'service_timeout',
  'service_unavailable',
  'rate_limited',
  'answer_unreadable',
  'redirected',
  'disk_full',
  'file_unwritable',
  'database_locked',
]);

export class CauseLog {
  readonly #options: CauseLogOptions;
  readonly #causes = new Map<string, Cause>();

  constructor(options: CauseLogOptions) {
    this.#options = options;
  }

  /**
   * Something failed for an account. @returns what to add to its line; undefined where its cause was logged.
   * @param what a word for what failed, that `worked` repeats
   * @param code that of its error, or a word for what is no error
   */
  failed(accountId: string, what: string, code: FailureCode): Beginning | undefined {
    if (code === 'interrupted') return undefined;
    const member = `${what} of ${accountId}`;
    const connection = this.#options.connectionOf(accountId);
    const key = `${connection} ${code}${code === 'access_denied' ? ` ${what}` : ''}`;
    const known = this.#causes.get(key);
    const isOfMany = ofMany.has(code);
    this.#leave(member, isOfMany || isOfToken(code) ? undefined : 'over', known);
    if (isOfToken(code)) return undefined;
    if (!isOfMany) return { facts: {}, words: '' };
    known?.failing.add(member);
    known?.accounts.add(accountId);
    if (known) return undefined;
    const since = this.#options.clock.now();
    this.#causes.set(key, { connection, code, since, failing: new Set([member]), accounts: new Set([accountId]) });
    const accounts = this.#options.accounts().filter((id) => this.#options.connectionOf(id) === connection).length;
    if (accounts < 2) return { facts: {}, words: '' };
    const words = ` Not logged for each: it may be so for all ${accounts.toLocaleString('en')} accounts of the connection ${connection}.`;
    return { facts: { connection, accounts }, words };
  }

  /** The same worked. */
  worked(accountId: string, what: string): void {
    this.#leave(`${what} of ${accountId}`, 'over');
  }

  /** An account is no longer served by this process. */
  left(accountId: string): void {
    for (const cause of this.#causes.values())
      for (const member of cause.failing) if (member.endsWith(` of ${accountId}`)) this.#leave(member);
  }

  /** @param but a cause that goes on */
  #leave(member: string, how?: 'over', but?: Cause): void {
    for (const [key, cause] of this.#causes) {
      if (cause === but || !cause.failing.delete(member) || cause.failing.size > 0) continue;
      this.#causes.delete(key);
      if (how !== 'over') continue;
      const { connection, code, since, accounts } = cause;
      const { clock, log } = this.#options;
      const which = accounts.size === 1 ? 'one account' : `${accounts.size.toLocaleString('en')} accounts`;
      const lasted = seconds((clock.now() - since) / 1_000);
      log.info(
        { connection, code, accounts: accounts.size },
        `${code} is over: it lasted ${lasted} and hit ${which} of the connection ${connection}`,
      );
    }
  }
}
