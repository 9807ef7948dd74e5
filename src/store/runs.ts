/** Runs: each a recorded attempt. Whether it ended, succeeded and was complete are three separate facts. */
import { sql, type RawBuilder } from 'kysely';
import { parseInstant, timestamp, type Clock } from '../domain/clock.ts';
import { accessRefusals, type ErrorCode } from '../domain/errors.ts';
import type { ReadStamp } from '../domain/reading.ts';
import { nextOutcome, type EndedOutcome, type RunKind } from '../domain/run.ts';
import type { ProcessLock } from '../domain/processes.ts';
import type { ClockSetBackLog, ReadingCounter } from './reading-counter.ts';
import { among, batchSize, type Expiring } from './retention.ts';
import { withoutBlobs } from './sqlite/blobs.ts';
import { Transacted, type Database } from './sql/database.ts';
import { connectReader, type Sqlite } from './sqlite/driver.ts';
import type { ProofKind, RunTable, RunTrigger } from './sql/schema.ts';
import {
  columns,
  mirrorSql,
  statement,
  Operations,
  type None,
  type OfAccount,
  type At,
  type Statement,
  type Connection,
} from './sql/statement.ts';
import { fileStatement } from './sqlite/connection.ts';

interface RunStart {
  readonly accountId: string;
  readonly kind: RunKind;
  readonly trigger: RunTrigger;
}

export interface Run {
  readonly id: number;
  readonly accountId: string;
  readonly kind: RunKind;
  /** Our time at the start, milliseconds since 1970. */
  readonly startedAt: number;
  /** Taken at the start: a vendor with a higher number was read since. */
  readonly began: ReadStamp;
}

/** A run that sweeps, as its readings need it. */
export interface Sweeping extends Pick<Run, 'id'> {
  readonly kind: Exclude<RunKind, 'verify'>;
  readonly trigger: RunTrigger;
}

export type RunCounts = Pick<
  RunTable,
  'pages' | 'requests' | 'seen' | 'created' | 'updated' | 'unchanged' | 'suspects'
>;

export const noCounts: RunCounts = {
  pages: 0,
  requests: 0,
  seen: 0,
  created: 0,
  updated: 0,
  unchanged: 0,
  suspects: 0,
};

export interface RunEnd {
  readonly outcome: EndedOutcome;
  readonly counts: RunCounts;
  /** The error message; null where there is none. */
  readonly error: string | null;
  readonly errorCode: ErrorCode | null;
  /** What to do, where more is known than the code says. */
  readonly remedy?: string | undefined;
  /** How the list was proven complete, and whether it moved; null where that is unknown or does not apply. */
  readonly proof: ProofKind | null;
  readonly moved: boolean | null;
  /** For a complete run: the moments (milliseconds since 1970) up to which the mirror is complete, for all vendors and for listed ones. */
  readonly safeAsOf: number | null;
  readonly listedAsOf: number | null;
}

/** Of the latest complete runs that walked the list: how many saw it move, and how many there are. */
interface ListMoves {
  readonly moved: number;
  readonly walked: number;
}

const leftError = 'The process ended during the run.';

const counted = Object.keys(noCounts) as (keyof RunCounts)[];
const starts = ['id', 'account_id', 'kind', 'trigger', 'started_at', 'process', 'began_seq'] as const;

const noEnd = {
  outcome: 'running',
  finished_at: null,
  error: null,
  error_code: null,
  remedy: null,
  safe_as_of: null,
  listed_as_of: null,
  proof: null,
  list_moved: null,
} as const;
const ends = Object.keys(noEnd) as (keyof typeof noEnd)[];

interface RunParts {
  readonly clock: Clock;
  readonly counter: ReadingCounter;
  readonly process: Pick<ProcessLock, 'name' | 'isAlive'>;
  readonly setBacks: Pick<ClockSetBackLog, 'wasSince'>;
}

/** When a run ended: no earlier than it began, though the clock was set back since. */
function ended(at: At<Pick<RunTable, 'finished_at'>>): RawBuilder<string> {
  return sql`CASE WHEN started_at > ${at('finished_at')} THEN started_at ELSE ${at('finished_at')} END`;
}

export class Runs extends Transacted {
  readonly #counter: ReadingCounter;
  readonly #process: Pick<ProcessLock, 'name' | 'isAlive'>;
  readonly #own = new Set<number>();
  readonly #starts: RunStarts;
  readonly #moves = listMoves(this.db);
  readonly #newest = statement(this.db)<None, { id: number | null }>`SELECT max(id) AS id FROM runs`;
  readonly #insert = statement<{ id: number } & Pick<RunTable, Exclude<(typeof starts)[number], 'id'>>>(this.db, (at) =>
    mirrorSql.insertInto('runs').values({ ...noCounts, ...columns(at, starts), ...noEnd }),
  );
  readonly #running = statement(this.db)<{ account_id: string }, Pick<RunTable, 'process'> & { id: number }>`
    SELECT id, process FROM runs WHERE account_id = ${'account_id'} AND outcome = 'running'`;
  readonly #unfinished = statement(this.db)<
    { account_id: string; since: string },
    Pick<RunTable, 'process' | 'outcome'>
  >`
    SELECT process, outcome FROM runs
    WHERE account_id = ${'account_id'} AND outcome IN ('abandoned', 'running') AND started_at > ${'since'}`;
  readonly #complete = statement(this.db)<{ account_id: string }, { started_at: string | null }>`
    SELECT started_at FROM runs
    WHERE account_id = ${'account_id'} AND outcome = 'complete' AND kind <> 'verify' ORDER BY id DESC LIMIT 1`;
  readonly #firstComplete = statement(this.db)<{ account_id: string }, { finished_at: string | null }>`
    SELECT finished_at FROM runs
    WHERE account_id = ${'account_id'} AND outcome = 'complete' AND kind <> 'verify' ORDER BY id LIMIT 1`;
  readonly #claimed = statement(this.db)<{ account_id: string }, { safe_as_of: string | null }>`
    SELECT safe_as_of FROM runs
    WHERE account_id = ${'account_id'} AND outcome = 'complete' AND kind <> 'verify' ORDER BY id DESC LIMIT 1`;
  readonly #everyComplete = statement(this.db)<None, { account_id: string; started_at: string }>`
    SELECT a.account_id, r.started_at FROM _accounts a JOIN runs r ON r.id = (
      SELECT max(c.id) FROM runs c WHERE c.account_id = a.account_id AND c.outcome = 'complete' AND c.kind <> 'verify')`;
  readonly #latest = statement(this.db)<{ account_id: string }, Sweeping>`
    SELECT id, kind, "trigger" FROM runs
    WHERE account_id = ${'account_id'} AND kind <> 'verify' ORDER BY id DESC LIMIT 1`;
  readonly #abandon = statement<{ id: number; finished_at: string }>(this.db, (at) =>
    mirrorSql
      .updateTable('runs')
      .set({
        outcome: nextOutcome('running', 'left'),
        finished_at: ended(at),
        error: leftError,
      })
      .where('id', '=', at('id')),
  );
  readonly #progress = statement<RunCounts & { id: number }>(this.db, (at) =>
    mirrorSql.updateTable('runs').set(columns(at, counted)).where('id', '=', at('id')),
  );
  readonly #finish = statement<RunCounts & { id: number } & Pick<RunTable, (typeof ends)[number]>>(this.db, (at) =>
    mirrorSql
      .updateTable('runs')
      .set({ ...columns(at, counted), ...columns(at, ends), finished_at: ended(at) })
      .where('id', '=', at('id'))
      .where('outcome', '=', sql.lit('running')),
  );

  constructor(database: Database, { clock, counter, process, setBacks }: RunParts) {
    super(database, clock);
    const { connection: db } = database;
    this.#starts = new RunStarts(db, setBacks);
    this.#counter = counter;
    this.#process = process;
  }

  /** Also marks runs of dead processes as abandoned. */
  async beginRun({ accountId, kind, trigger }: RunStart): Promise<Run> {
    return this.database.write(async () => {
      const { id, began } = await this.#counter.beginRun((await this.#newest.get({}))?.id ?? 0);
      const startedAt = this.clock.now();
      for (const run of await this.#running.all({ account_id: accountId }))
        if (run.process === this.#process.name ? !this.#own.has(run.id) : !(await this.#isAlive(run.process)))
          this.#abandon.send({ id: run.id, finished_at: timestamp(startedAt) });
      this.#insert.send({
        id,
        account_id: accountId,
        kind,
        trigger,
        started_at: timestamp(startedAt),
        process: this.#process.name,
        began_seq: began.readSeq,
      });
      this.#own.add(id);
      return { id, accountId, kind, startedAt, began };
    });
  }

  /** How many runs of an account began after `since` (milliseconds since 1970) and died with their process. */
  unfinishedRuns(accountId: string, since: number): Promise<number> {
    return this.database.read(async () => {
      let unfinished = 0;
      for (const { process, outcome } of await this.#unfinished.all({ account_id: accountId, since: timestamp(since) }))
        if (process !== this.#process.name && (outcome === 'abandoned' || !(await this.#isAlive(process))))
          unfinished += 1;
      return unfinished;
    });
  }

  /** How many of an account's latest complete runs saw its list change. */
  listMoves(accountId: string): Promise<ListMoves> {
    return this.database.read(() => this.#moves(accountId));
  }

  /** When the last complete sweep of an account began, as a timestamp of ours; undefined before the first. */
  lastComplete(accountId: string): Promise<string | undefined> {
    return this.database.read(
      async () => (await this.#complete.get({ account_id: accountId }))?.started_at ?? undefined,
    );
  }

  /** When the first complete sweep of an account that is still recorded ended; undefined before it. */
  firstComplete(accountId: string): Promise<string | undefined> {
    return this.database.read(
      async () => (await this.#firstComplete.get({ account_id: accountId }))?.finished_at ?? undefined,
    );
  }

  /** Up to when the last complete sweep knew every vendor, milliseconds since 1970; null where it could not say. */
  lastSafeAsOf(accountId: string): Promise<number | null> {
    return this.database.read(
      async () => parseInstant((await this.#claimed.get({ account_id: accountId }))?.safe_as_of ?? '') ?? null,
    );
  }

  /** When the last complete sweep of each account began, by account. */
  lastCompleteByAccount(): Promise<ReadonlyMap<string, string>> {
    return this.database.read(
      async () =>
        new Map((await this.#everyComplete.all({})).map(({ account_id, started_at }) => [account_id, started_at])),
    );
  }
  /**
   * The start of the last run before the reading of that number, in milliseconds since 1970 and not after `now`; undefined where it is
   * unknown, because the clock was set back.
   */
  runStartBefore(accountId: string, readSeq: number, now: number): Promise<number | undefined> {
    return this.database.read(() => this.#starts.startBefore(accountId, readSeq, now));
  }

  /** When a run began, milliseconds since 1970; undefined where the clock was set back since. */
  runStart(run: Run): Promise<number | undefined> {
    return this.database.read(() => this.#starts.startOf(run));
  }

  /** The latest sweep of an account, possibly still running. */
  lastSweep(accountId: string): Promise<Sweeping | undefined> {
    return this.database.read(() => this.#latest.get({ account_id: accountId }));
  }

  /** Updates the counts of a run. Runs inside a transaction. */
  progress(id: number, counts: RunCounts): void {
    this.#progress.send({ id, ...counts });
  }

  finishRun(run: Run, end: RunEnd): Promise<void> {
    return this.database.write(() => this.finish(run, end));
  }

  /** As `finishRun`, inside a transaction. Nothing is claimed by a clock that was set back since the run began. */
  async finish(run: Run, end: RunEnd): Promise<void> {
    await this.#counter.notice();
    const isKnown = (await this.#starts.startOf(run)) !== undefined;
    const claim = (moment: number | null): string | null => (moment === null || !isKnown ? null : timestamp(moment));
    this.#own.delete(run.id);
    this.#finish.send({
      id: run.id,
      ...end.counts,
      outcome: end.outcome,
      error: end.error,
      error_code: end.errorCode,
      remedy: end.remedy ?? null,
      finished_at: timestamp(this.clock.now()),
      safe_as_of: claim(end.safeAsOf),
      listed_as_of: claim(end.listedAsOf),
      proof: end.proof,
      list_moved: end.moved === null ? null : Number(end.moved),
    });
  }

  async #isAlive(name: string | null): Promise<boolean> {
    return name !== null && (await this.#process.isAlive(name));
  }
}

/** When runs began, where that is known: the clock may have been set back since. */
class RunStarts extends Operations {
  readonly #setBacks: Pick<ClockSetBackLog, 'wasSince'>;
  readonly #before = statement(this.db)<
    { account_id: string; read_seq: number },
    { began: string; seq: number | null }
  >`
    SELECT coalesce(r.started_at, a.added_at) AS began, r.began_seq AS seq FROM _accounts a
    LEFT JOIN runs r ON r.account_id = a.account_id AND r.began_seq < ${'read_seq'}
    WHERE a.account_id = ${'account_id'} ORDER BY r.id DESC LIMIT 1`;

  constructor(db: Connection, setBacks: Pick<ClockSetBackLog, 'wasSince'>) {
    super(db);
    this.#setBacks = setBacks;
  }

  /**
   * When the last run before the reading of that number began, or the account was added where there is none; in milliseconds since 1970.
   * Undefined where the clock was set back since, by an unknown amount.
   */
  async startBefore(account_id: string, read_seq: number, now: number): Promise<number | undefined> {
    const found = await this.#before.get({ account_id, read_seq });
    const moment = parseInstant(found?.began ?? '');
    // Which number was the last when the account was added is not recorded.
    if (moment === undefined || moment > now || (await this.#setBacks.wasSince(found?.seq ?? -1))) return undefined;
    return moment;
  }

  /** When a run began; undefined in the same case. */
  async startOf({ startedAt, began }: Pick<Run, 'startedAt' | 'began'>): Promise<number | undefined> {
    return (await this.#setBacks.wasSince(began.readSeq)) ? undefined : startedAt;
  }
}

/** How many of the latest complete runs say whether a list changes. */
const movesCounted = 5;

/** Whether the list of an account changed during its latest complete runs. */
function listMoves(db: Connection): (accountId: string) => Promise<ListMoves> {
  const latest = statement(db)<{ account_id: string }, ListMoves>`
    SELECT coalesce(sum(list_moved), 0) AS moved, count(*) AS walked FROM (
      SELECT list_moved FROM runs
      WHERE account_id = ${'account_id'} AND outcome = 'complete' AND list_moved IS NOT NULL
      ORDER BY id DESC LIMIT ${movesCounted}) AS latest`;
  return async (accountId) => (await latest.get({ account_id: accountId })) ?? { moved: 0, walked: 0 };
}

export type ReportedRun = Omit<RunTable, 'id' | 'account_id' | 'process' | 'began_seq'> & { readonly id: number };

/** The latest runs of an account, newest first, for people. */
export interface LatestRuns {
  /** A run whose process has ended is shown as the next run of the account will record it; when it ended is not known. */
  readonly runs: readonly ReportedRun[];
  /** Whether a run is recorded as running of which it is not known whether its process is still there. */
  readonly isRunUnseen: boolean;
}

/**
 * By name, whether the processes are there that runs name as theirs; undefined where that cannot be known. Asked before the runs are read: a run
 * that still counts as running afterwards, and whose process was not there before, was left by it.
 */
export type Carriers = ReadonlyMap<string, boolean | undefined>;

/** Prepares lists of the processes that are to carry out the `latest` runs of an account. */
export function carriersOf(db: Connection, latest: number): (accountId: string) => Promise<string[]> {
  const named = statement(db)<OfAccount & { latest: number }, { process: string }>`
    SELECT DISTINCT process FROM (
      SELECT outcome, process FROM runs WHERE account_id = ${'accountId'} ORDER BY id DESC LIMIT +${'latest'}) AS shown
    WHERE outcome = 'running' AND process IS NOT NULL`;
  return async (accountId) => (await named.all({ accountId, latest })).map(({ process }) => process);
}

export function latestRuns(
  db: Connection,
): (accountId: string, latest: number, carriers: Carriers) => Promise<LatestRuns> {
  const recorded = statement(db)<OfAccount & { latest: number }, ReportedRun & Pick<RunTable, 'process'>>`
    SELECT id, kind, "trigger", started_at, finished_at, outcome, pages, requests, seen, created, updated, unchanged,
      suspects, error, safe_as_of, listed_as_of, proof, list_moved, error_code, remedy, process
    FROM runs
    WHERE account_id = ${'accountId'}
    ORDER BY id DESC
    LIMIT +${'latest'}`;
  return async (accountId, latest, carriers) => {
    let isRunUnseen = false;
    const runs = (await recorded.all({ accountId, latest })).map((row): ReportedRun => {
      const { process, ...run } = withoutBlobs(row);
      if (run.outcome !== 'running') return run;
      // One that began since they were asked is under way.
      const isAlive = process !== null && (carriers.has(process) ? carriers.get(process) : true);
      isRunUnseen ||= isAlive === undefined;
      return isAlive === false ? { ...run, outcome: nextOutcome('running', 'left'), error: leftError } : run;
    });
    return { runs, isRunUnseen };
  };
}

/** Since when the runs of an account have not been complete; null where the last one was. */
export interface FailedSince {
  /** When the first run failed, or was incomplete, after the last complete one. */
  readonly failedSince: string | null;
  /** When the service first refused access to a run since one got an answer. */
  readonly refusedSince: string | null;
}

export function failuresOfRuns(db: Connection): Statement<OfAccount, FailedSince> {
  const moment = sql`coalesce(f.finished_at, f.started_at)`;
  return statement<OfAccount, FailedSince>(
    db,
    (at) => sql`
      SELECT ${firstFailure(at('accountId'), moment)} AS "failedSince", ${firstRefusal(at('accountId'), moment)} AS "refusedSince"`,
  );
}

/** Something of the first run that failed, or was incomplete, after the last complete one. */
function firstFailure(accountId: RawBuilder<unknown>, what: RawBuilder<unknown>): RawBuilder<unknown> {
  return firstAfter(accountId, what, sql`f.outcome <> 'complete'`, sql`l.outcome = 'complete'`);
}

/** Something of the first run that was refused after the last one that got an answer. */
function firstRefusal(accountId: RawBuilder<unknown>, what: RawBuilder<unknown>): RawBuilder<unknown> {
  const refusals = sql.join(accessRefusals);
  return firstAfter(
    accountId,
    what,
    sql`f.error_code IN (${refusals})`,
    sql`(l.outcome = 'complete' OR (l.outcome = 'incomplete' AND l.error_code IS NOT NULL AND l.error_code NOT IN (${refusals})))`,
  );
}

function firstAfter(
  accountId: RawBuilder<unknown>,
  what: RawBuilder<unknown>,
  isFailure: RawBuilder<unknown>,
  ends: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    (SELECT ${what} FROM runs f
      WHERE f.account_id = ${accountId} AND f.outcome <> 'running' AND ${isFailure}
        AND f.id > coalesce((SELECT max(l.id) FROM runs l WHERE l.account_id = ${accountId} AND ${ends}), 0)
      ORDER BY f.id LIMIT 1)`;
}

/** The last complete sweep of an account before a run; before any where that is null. */
export function lastCompleteBefore(
  db: Connection,
): Statement<{ account_id: string; before: number | null }, { id: number }> {
  return statement(db)`
    SELECT id FROM runs
    WHERE account_id = ${'account_id'} AND outcome = 'complete' AND kind <> 'verify'
      AND (CAST(${'before'} AS BIGINT) IS NULL OR id < ${'before'})
    ORDER BY id DESC LIMIT 1`;
}

/** After the clock was set back: clears the freshness of the last complete sweep of each account. */
export function dropFreshness(db: Connection): Statement<object> {
  return statement(db)<object>`
    UPDATE runs SET safe_as_of = NULL, listed_as_of = NULL WHERE id IN (
      SELECT (SELECT max(c.id) FROM runs c
        WHERE c.account_id = a.account_id AND c.outcome = 'complete' AND c.kind IN ('pull', 'reconcile'))
      FROM _accounts a)`;
}

/**
 * Runs that ended. Kept are the latest complete one of each kind and account, because `freshness` depends on it, and the first ones that
 * failed since, because they say since when.
 */
export const expiringRuns: Expiring = {
  next: (at) => sql`
    SELECT id, started_at AS at, outcome = 'running'
      OR (outcome = 'complete' AND NOT EXISTS (
        SELECT 1 FROM runs later WHERE later.account_id = runs.account_id AND later.outcome = 'complete'
          AND later.kind = runs.kind AND later.id > runs.id))
      OR id IS NOT DISTINCT FROM ${firstFailure(sql`runs.account_id`, sql`f.id`)}
      OR id IS NOT DISTINCT FROM ${firstRefusal(sql`runs.account_id`, sql`f.id`)} AS stays
    FROM runs WHERE id > ${at('id')} ORDER BY id LIMIT ${batchSize}`,
  remove: (at) => sql`DELETE FROM runs WHERE id IN ${among(at)}`,
};

/**
 * Whether a mirror is there that no run ever began to fill: a command such as `callbacks register` made it. A file that cannot be read is none: opening it
 * says what is wrong.
 */
export function isUnused(path: string): boolean {
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectReader(path);
    return !fileStatement(sqlite)`SELECT 1 FROM runs UNION ALL SELECT 1 FROM vendors LIMIT 1`.get({});
  } catch {
    return false;
  } finally {
    sqlite?.close();
  }
}
