/** The state of connections: which accounts each serves, and why one gives no access. */
import { took } from '../../domain/age.ts';
import { catalogue, isAccessRefused, type ErrorCode } from '../../domain/errors.ts';
import type { ConnectionFailure } from '../../store/reports/account-reports.ts';

export interface ConnectionFacts {
  readonly connection: string;
  /** How many accounts it gives access to. */
  readonly accounts: number;
  /** Null where the last request was answered. */
  readonly failing: ConnectionFailure | null;
}

/** Facts of each connection, given the accounts that it serves. */
export function connectionFacts(
  names: readonly string[],
  connectionOf: (accountId: string) => string,
  accounts: readonly string[],
  failures: readonly ConnectionFailure[],
): ConnectionFacts[] {
  const counts = new Map<string, number>();
  for (const account of accounts) {
    const name = connectionOf(account);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return names.map((connection) => ({
    connection,
    accounts: counts.get(connection) ?? 0,
    failing: failures.find((failure) => failure.connection === connection) ?? null,
  }));
}

/** What to do about a connection that gives no access; undefined while it does. */
function connectionRemedy({ connection, failing }: ConnectionFacts): string | undefined {
  if (!failing) return undefined;
  if (failing.code === 'token_refresh_failed') return `Run \`vendor-mirror login ${connection}\`.`;
  return failing.code in catalogue ? catalogue[failing.code as ErrorCode].hint : '';
}

/** A sentence with its remedy; undefined if all is well, or if the problem may pass without help. */
export function connectionAdvice(facts: ConnectionFacts, now: number): string | undefined {
  const { connection, accounts, failing } = facts;
  if (!failing || !isAccessRefused(failing.code as ErrorCode)) return undefined;
  const whose = accounts === 1 ? 'its account' : `its ${accounts} accounts`;
  return `The connection ${connection} has given no access to ${whose} for ${took({ now: () => now }, failing.first_at, null)}: ${failing.message} ${connectionRemedy(facts) ?? ''}`.trimEnd();
}

/** As JSON shows it. */
export function connectionDocument(facts: ConnectionFacts): object {
  const { connection, accounts, failing } = facts;
  if (!failing) return { connection, accounts, failing: null };
  const { requests, first_at, last_at, code, message } = failing;
  const what_to_do = connectionRemedy(facts);
  return { connection, accounts, failing: { requests, first_at, last_at, code, message, what_to_do } };
}
