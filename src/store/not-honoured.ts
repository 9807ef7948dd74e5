/** Optional requests that the service does not honour, by account: since when, why, and when each is tried again. */
import { sql } from 'kysely';
import { parseInstant, timestamp, type Clock } from '../domain/clock.ts';
import type { MirrorError } from '../domain/errors.ts';
import { insteadOf, untilTriedAgain, type OptionalMemory, type OptionalRequest } from '../domain/optional-requests.ts';
import type { Findings } from './findings.ts';
import type { Run } from './runs.ts';
import type { Database } from './sqlite/database.ts';
import { statement, type Statement } from './sqlite/statement.ts';

interface OfRequest {
  account_id: string;
  request: OptionalRequest;
}

interface Declined {
  request: OptionalRequest;
  again_at: string;
  failures: number;
  code: string;
  message: string;
  is_found: number;
}

/** No row waits longer, in milliseconds: the clock was set back since. */
const maxWait = 86_400_000;

export class NotHonoured implements OptionalMemory {
  readonly #database: Database;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #findings: Findings;
  readonly #ofAccount: Statement<{ account_id: string }, Declined>;
  readonly #put: Statement<
    OfRequest & { now: string; again_at: string; failures: number; code: string; message: string }
  >;
  readonly #remove: Statement<OfRequest>;
  readonly #found: Statement<{ account_id: string }>;

  constructor(database: Database, { clock, findings }: { clock: Pick<Clock, 'now'>; findings: Findings }) {
    const { sqlite } = database;
    this.#database = database;
    this.#clock = clock;
    this.#findings = findings;
    this.#ofAccount = statement(
      sqlite,
      (at) => sql`
        SELECT request, again_at, failures, code, message, is_found FROM _not_honoured WHERE account_id = ${at('account_id')}`,
    );
    this.#put = statement(
      sqlite,
      (at) => sql`
        INSERT INTO _not_honoured (account_id, request, since, tried_at, again_at, failures, code, message)
        VALUES (${at('account_id')}, ${at('request')}, ${at('now')}, ${at('now')}, ${at('again_at')}, ${at('failures')}, ${at('code')},
          ${at('message')})
        ON CONFLICT (account_id, request) DO UPDATE SET tried_at = excluded.tried_at, again_at = excluded.again_at,
          failures = excluded.failures, code = excluded.code, message = excluded.message`,
    );
    this.#remove = statement(
      sqlite,
      (at) => sql`DELETE FROM _not_honoured WHERE account_id = ${at('account_id')} AND request = ${at('request')}`,
    );
    this.#found = statement(
      sqlite,
      (at) => sql`UPDATE _not_honoured SET is_found = 1 WHERE account_id = ${at('account_id')}`,
    );
  }

  async isHonoured(account_id: string, request: OptionalRequest): Promise<boolean> {
    const known = await this.#database.read(() => this.#find(account_id, request));
    if (!known) return true;
    const left = (parseInstant(known.again_at) ?? 0) - this.#clock.now();
    return left <= 0 || left > maxWait;
  }

  async isSettled(account_id: string, request: OptionalRequest): Promise<boolean> {
    return ((await this.#database.read(() => this.#find(account_id, request)))?.failures ?? 0) > 1;
  }

  noteDeclined(account_id: string, request: OptionalRequest, error: MirrorError): Promise<boolean> {
    return this.#database.write(() => {
      const known = this.#find(account_id, request);
      const failures = (known?.failures ?? 0) + 1;
      const now = this.#clock.now();
      const again_at = timestamp(now + untilTriedAgain(request, failures));
      const { code, message } = error;
      this.#put.run({ account_id, request, now: timestamp(now), again_at, failures, code, message });
      return known === undefined;
    });
  }

  async noteHonoured(account_id: string, request: OptionalRequest): Promise<void> {
    if (!(await this.#database.read(() => this.#find(account_id, request)))) return;
    await this.#database.write(() => void this.#remove.run({ account_id, request }));
  }

  /** Adds a finding about each request that was not honoured when none knew it yet. @returns notes for the run report. */
  async addFindings(run: Run): Promise<string[]> {
    const account = { account_id: run.accountId };
    const isNew = ({ is_found }: Declined): boolean => is_found === 0;
    if (!(await this.#database.read(() => this.#ofAccount.all(account).some(isNew)))) return [];
    return this.#database.write(() => {
      const declined = this.#ofAccount.all(account).filter(isNew);
      for (const { request, code, message } of declined)
        this.#findings.add(run.id, run.accountId, {
          kind: 'not_honoured',
          vendorid: null,
          fields: { request, code, message },
        });
      this.#found.run(account);
      return declined.map(
        ({ request, message, again_at }) =>
          `The service does not honour ${request}, so ${insteadOf[request]}; it is tried again at ${again_at} UTC. ${message}`,
      );
    });
  }

  #find(account_id: string, request: OptionalRequest): Declined | undefined {
    return this.#ofAccount.all({ account_id }).find((row) => row.request === request);
  }
}
