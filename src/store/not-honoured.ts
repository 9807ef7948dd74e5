/** Optional requests that the service does not honour, by account: since when, why, and when each is tried again. */
import { timestamp, type Clock } from '../domain/clock.ts';
import type { MirrorError } from '../domain/errors.ts';
import {
  insteadOf,
  refusalAfter,
  untilTriedAgain,
  type OptionalMemory,
  type OptionalRequest,
  type Refusal,
} from '../domain/optional-requests.ts';
import type { Findings } from './findings.ts';
import type { ReadingCounter } from './reading-counter.ts';
import type { Run } from './runs.ts';
import { Transacted, type Database } from './sql/database.ts';
import { statement, type Connection, type OfAccount, type Statement } from './sql/statement.ts';

interface OfRequest {
  account_id: string;
  request: OptionalRequest;
}

interface Declined {
  request: OptionalRequest;
  again_at: string;
  since_ms: number;
  again_ms: number;
  failures: number;
  code: string;
  message: string;
  is_found: number;
}

export class NotHonoured extends Transacted implements OptionalMemory {
  readonly #counter: ReadingCounter;
  readonly #findings: Findings;
  readonly #ofAccount = statement(this.db)<{ account_id: string }, Declined>`
      SELECT request, again_at, since_ms, again_ms, failures, code, message, is_found FROM _not_honoured WHERE account_id = ${'account_id'}`;
  readonly #put = statement(this.db)<OfRequest & Omit<Declined, 'is_found'> & { now: string }>`
      INSERT INTO _not_honoured (account_id, request, since, tried_at, again_at, since_ms, again_ms, failures, code, message)
      VALUES (${'account_id'}, ${'request'}, ${'now'}, ${'now'}, ${'again_at'}, ${'since_ms'},
        ${'again_ms'}, ${'failures'}, ${'code'}, ${'message'})
      ON CONFLICT (account_id, request) DO UPDATE SET tried_at = excluded.tried_at, again_at = excluded.again_at, again_ms = excluded.again_ms,
        failures = excluded.failures, code = excluded.code, message = excluded.message`;
  readonly #remove = statement(this.db)<OfRequest>`
      DELETE FROM _not_honoured WHERE account_id = ${'account_id'} AND request = ${'request'}`;
  readonly #found = statement(this.db)<{
    account_id: string;
  }>`UPDATE _not_honoured SET is_found = 1 WHERE account_id = ${'account_id'}`;

  constructor(
    database: Database,
    { clock, counter, findings }: { clock: Clock; counter: ReadingCounter; findings: Findings },
  ) {
    super(database, clock);
    this.#counter = counter;
    this.#findings = findings;
  }

  isHonoured(account_id: string, request: OptionalRequest): Promise<boolean> {
    return this.database.read(async () => {
      const known = await this.#find(account_id, request);
      return !known || (await this.#counter.moment()) >= known.again_ms;
    });
  }

  refusalOf(account_id: string, request: OptionalRequest): Promise<Refusal | undefined> {
    return this.database.read(async () => {
      const known = await this.#find(account_id, request);
      return known && refusalAfter(known.failures, (await this.#counter.moment()) - known.since_ms);
    });
  }

  noteDeclined(account_id: string, request: OptionalRequest, error: MirrorError): Promise<boolean> {
    return this.database.write(async () => {
      const known = await this.#find(account_id, request);
      const failures = (known?.failures ?? 0) + 1;
      const { code, message } = error;
      const now = this.clock.now();
      const moment = await this.#counter.moment();
      const since_ms = known?.since_ms ?? moment;
      const wait = untilTriedAgain(request, moment - since_ms);
      const times = { now: timestamp(now), again_at: timestamp(now + wait), since_ms, again_ms: moment + wait };
      this.#put.send({ account_id, request, ...times, failures, code, message });
      return known === undefined;
    });
  }

  async noteHonoured(account_id: string, request: OptionalRequest): Promise<void> {
    if (!(await this.database.read(() => this.#find(account_id, request)))) return;
    await this.database.write(() => this.#remove.send({ account_id, request }));
  }

  /** Adds a finding about each request that was not honoured when none knew it yet. Runs inside a transaction. @returns notes for the run report. */
  async addFindings(run: Run): Promise<string[]> {
    const account = { account_id: run.accountId };
    const declined = (await this.#ofAccount.all(account)).filter(({ is_found }) => is_found === 0);
    for (const { request, code, message } of declined)
      this.#findings.add(run.id, run.accountId, {
        kind: 'not_honoured',
        vendorid: null,
        fields: { request, code, message },
      });
    if (declined.length > 0) this.#found.send(account);
    return declined.map(
      ({ request, message, again_at }) =>
        `The service does not honour ${request}, so ${insteadOf[request]}; it is tried again at ${again_at} UTC. ${message}`,
    );
  }

  async #find(account_id: string, request: OptionalRequest): Promise<Declined | undefined> {
    return (await this.#ofAccount.all({ account_id })).find((row) => row.request === request);
  }
}

/** An optional request that the service does not honour, since when, and what it said. */
export interface DeclinedRequest {
  readonly request: OptionalRequest;
  readonly since: string;
  readonly message: string;
}

/** Those of an account. */
export function declinedRequests(db: Connection): Statement<OfAccount, DeclinedRequest> {
  return statement(db)<OfAccount, DeclinedRequest>`
    SELECT request, since, message FROM _not_honoured WHERE account_id = ${'accountId'} ORDER BY request`;
}

/** Since when the gateways of an account could not be listed, and why. */
type UnlistedGateways = Omit<DeclinedRequest, 'request'> & { readonly account_id: string };

/** Accounts whose gateways the service does not list now; all of them where none is given. */
export function unlistedGateways(db: Connection, account: string | undefined): Promise<UnlistedGateways[]> {
  return statement(db)<{ account: string | null }, UnlistedGateways>`
    SELECT account_id, since, message FROM _not_honoured
    WHERE request = 'gateways' AND account_id = coalesce(${'account'}, account_id) ORDER BY account_id`.all({
    account: account ?? null,
  });
}
