/** Runs: one ledgered attempt each. Ended, succeeded and complete are three facts. */
import { sql } from 'kysely';
import { parseInstant, timestamp, type Clock } from '../../domain/clock.ts';
import type { Counter, SetBacks } from './reading-counter.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import type { ProcessLock } from '../files/process-lock.ts';
import { plainStatement, type None } from '../sqlite/plain-statement.ts';
import { columns, mirrorSql, statement } from '../sqlite/statement.ts';
import type { RunKind, RunTable, RunTrigger } from '../tables/mirror-tables.ts';
import { noCounts, type Run, type Sweeping, type RunCounts, type RunEnd } from '../records/run-record.ts';

const counted = Object.keys(noCounts) as (keyof RunCounts)[];
const starts = ['account_id', 'kind', 'trigger', 'started_at', 'process', 'began_seq'] as const;

const noEnd = {
  finished_at: null,
  error: null,
  error_code: null,
  safe_as_of: null,
  listed_as_of: null,
  proof: null,
  list_moved: null,
} as const;

export interface Runs {
  /** Begins a run, and calls abandoned what dead processes left running. Runs inside a transaction. */
  begin(start: { accountId: string; kind: RunKind; trigger: RunTrigger }): Run;
  /** How many runs of an account began after `since`, milliseconds since 1970, and died with their process. */
  unfinished(accountId: string, since: number): number;
  /** When the last complete sweep of an account began, in our time; undefined before the first. */
  lastComplete(accountId: string): string | undefined;
  /** The same of every account that had one. */
  lastCompletes(): ReadonlyMap<string, string>;
  /**
   * When the last run of an account began that was before the reading of that number; before all runs, when the account was added: in
   * milliseconds since 1970, by the clock of today, although that may have been set back since.
   * Undefined where that is not known, or where it is later than `now`: the clock was set back by nobody knows how much.
   */
  before(accountId: string, readSeq: number, now: number): number | undefined;
  /** When a run began, in the same way. */
  began(run: Run): number | undefined;
  /** The run of an account that swept last, or sweeps now. */
  lastSweep(accountId: string): Sweeping | undefined;
  /** Writes down how far a run has come. Runs inside a transaction. */
  progress(id: number, counts: RunCounts): void;
  /** Runs inside a transaction. */
  finish(id: number, end: RunEnd): void;
}

export function runLedger(
  sqlite: Sqlite,
  clock: Clock,
  counter: Counter,
  process: Pick<ProcessLock, 'name' | 'isAlive'>,
  setBacks: Pick<SetBacks, 'since'>,
): Runs {
  const own = new Set<number>();
  const isAlive = (name: string | null): boolean => name !== null && process.isAlive(name);
  const insert = statement<
    Pick<RunTable, 'account_id' | 'kind' | 'trigger' | 'started_at' | 'process' | 'began_seq'>,
    { id: number }
  >(sqlite, (at) =>
    mirrorSql
      .insertInto('runs')
      .values({ ...noCounts, ...columns(at, starts), ...noEnd, outcome: 'running' })
      .returning('id'),
  );
  const running = statement<{ account_id: string }, Pick<RunTable, 'process'> & { id: number }>(sqlite, (at) =>
    mirrorSql
      .selectFrom('runs')
      .select(['id', 'process'])
      .where('account_id', '=', at('account_id'))
      .where('outcome', '=', 'running'),
  );
  const unfinished = statement<{ account_id: string; since: string }, Pick<RunTable, 'process' | 'outcome'>>(
    sqlite,
    (at) =>
      mirrorSql
        .selectFrom('runs')
        .select(['process', 'outcome'])
        .where('account_id', '=', at('account_id'))
        .where('outcome', 'in', ['abandoned', 'running'])
        .where('started_at', '>', at('since')),
  );
  const complete = statement<{ account_id: string }, { started_at: string | null }>(sqlite, (at) =>
    mirrorSql
      .selectFrom('runs')
      .select((row) => row.fn.max('started_at').as('started_at'))
      .where('account_id', '=', at('account_id'))
      .where('outcome', '=', 'complete')
      .where('kind', '!=', 'verify'),
  );
  const everyComplete = plainStatement<None, { account_id: string; started_at: string }>(
    sqlite,
    `
    SELECT a.account_id, r.started_at FROM accounts a JOIN runs r ON r.id = (
      SELECT max(c.id) FROM runs c WHERE c.account_id = a.account_id AND c.outcome = 'complete' AND c.kind <> 'verify')`,
  );
  const before = statement<{ account_id: string; read_seq: number }, { began: string; seq: number | null }>(
    sqlite,
    (at) =>
      mirrorSql
        .selectFrom('accounts')
        .leftJoin('runs', (join) =>
          join.onRef('runs.account_id', '=', 'accounts.account_id').on('runs.began_seq', '<', at('read_seq')),
        )
        .select((row) => [row.fn.coalesce('runs.started_at', 'accounts.added_at').as('began'), 'runs.began_seq as seq'])
        .where('accounts.account_id', '=', at('account_id'))
        .orderBy('runs.id', 'desc')
        .limit(1),
  );
  const latest = statement<{ account_id: string }, Sweeping>(sqlite, (at) =>
    mirrorSql
      .selectFrom('runs')
      .select(['id', 'kind', 'trigger'])
      .where('account_id', '=', at('account_id'))
      .where('kind', '!=', 'verify')
      .orderBy('id', 'desc')
      .limit(1),
  );
  const abandon = statement<{ id: number; finished_at: string }>(sqlite, (at) =>
    mirrorSql
      .updateTable('runs')
      .set({
        outcome: 'abandoned',
        finished_at: at('finished_at'),
        error: 'The process ended in the middle of the run.',
      })
      .where('id', '=', at('id')),
  );
  const progress = statement<RunCounts & { id: number }>(sqlite, (at) =>
    mirrorSql.updateTable('runs').set(columns(at, counted)).where('id', '=', at('id')),
  );
  const finish = statement<
    RunCounts & { id: number } & Pick<
        RunTable,
        'outcome' | 'error' | 'error_code' | 'proof' | 'list_moved' | 'finished_at' | 'safe_as_of' | 'listed_as_of'
      >
  >(sqlite, (at) =>
    mirrorSql
      .updateTable('runs')
      .set({
        ...columns(at, counted),
        outcome: at('outcome'),
        error: at('error'),
        error_code: at('error_code'),
        finished_at: at('finished_at'),
        safe_as_of: at('safe_as_of'),
        listed_as_of: at('listed_as_of'),
        proof: at('proof'),
        list_moved: at('list_moved'),
      })
      .where('id', '=', at('id'))
      .where('outcome', '=', sql.lit('running')),
  );
  return {
    begin({ accountId, kind, trigger }) {
      const beganSeq = counter.compareClocks();
      const startedAt = clock.now();
      for (const run of running.all({ account_id: accountId }))
        if (run.process === process.name ? !own.has(run.id) : !isAlive(run.process))
          abandon.run({ id: run.id, finished_at: timestamp(startedAt) });
      const begun = insert.get({
        account_id: accountId,
        kind,
        trigger,
        started_at: timestamp(startedAt),
        process: process.name,
        began_seq: beganSeq,
      });
      const id = begun?.id ?? 0;
      own.add(id);
      return { id, accountId, kind, startedAt, beganSeq };
    },
    unfinished: (accountId, since) =>
      unfinished
        .all({ account_id: accountId, since: timestamp(since) })
        .filter((run) => run.process !== process.name && (run.outcome === 'abandoned' || !isAlive(run.process))).length,
    lastComplete: (accountId) => complete.get({ account_id: accountId })?.started_at ?? undefined,
    lastCompletes: () => new Map(everyComplete.all({}).map(({ account_id, started_at }) => [account_id, started_at])),
    before(account_id, read_seq, now) {
      const found = before.get({ account_id, read_seq });
      const moment = parseInstant(found?.began ?? '');
      // Nobody knows which number was the last when the account was added.
      const setBack = setBacks.since(found?.seq ?? -1);
      if (moment === undefined || setBack === undefined) return undefined;
      return moment - setBack <= now ? moment - setBack : undefined;
    },
    began({ startedAt, beganSeq }) {
      const setBack = setBacks.since(beganSeq);
      return setBack === undefined ? undefined : startedAt - setBack;
    },
    lastSweep: (accountId) => latest.get({ account_id: accountId }),
    progress: (id, counts) => void progress.run({ id, ...counts }),
    finish(id, end) {
      own.delete(id);
      finish.run({
        id,
        ...end.counts,
        outcome: end.outcome,
        error: end.error,
        error_code: end.errorCode,
        finished_at: timestamp(clock.now()),
        safe_as_of: end.safeAsOf === null ? null : timestamp(end.safeAsOf),
        listed_as_of: end.listedAsOf === null ? null : timestamp(end.listedAsOf),
        proof: end.proof,
        list_moved: end.moved === null ? null : Number(end.moved),
      });
    },
  };
}
