/**
 * Copies for readers that a daemon keeps (`publish`): what each holds, and since when it could not be written. Not part of the copies' own
 * truth: a file that was replaced, removed, or comes from another history is known by its time and its place in the change feed. A schema of
 * PostgreSQL says itself what it holds; in place of the time of a file stands a number that changes whenever something is forgotten.
 */
import { sql, type Selectable } from 'kysely';
import { inOrder } from '../domain/concurrency.ts';
import { timestamp } from '../domain/clock.ts';
import type { MirrorError } from '../domain/errors.ts';
import { Transacted } from './sql/database.ts';
import { statement, type Connection, type None } from './sql/statement.ts';
import { cursorParts, latestCursor } from './reports/feed-cursor.ts';
import type { PublicationTable } from './sql/schema.ts';

export interface PublishedState {
  /** The end of the change feed before it was written. */
  readonly place: string;
  /** What was written, as settings say it. */
  readonly definition: string;
  /** The time of the file, milliseconds since 1970; below 0 once something was forgotten since. */
  readonly file_ms: number | null;
}

export type PublicationRow = Selectable<PublicationTable>;

const publicationColumns = sql`path, place, definition, file_ms, written_at, failing_since, failed_at, failures, code, error, remedy`;

type Failure = Pick<MirrorError, 'code' | 'message'> & { readonly remedy?: string | null | undefined };

export class PublicationRows extends Transacted {
  readonly #find = statement(this.db)<{ path: string }, PublicationRow>`
    SELECT ${publicationColumns} FROM _publications WHERE path = ${'path'}`;
  readonly #register = statement(this.db)<{ path: string }>`
    INSERT INTO _publications (path) VALUES (${'path'}) ON CONFLICT DO NOTHING`;
  readonly #wrote = statement(this.db)<PublishedState & { path: string; now: string }>`
    INSERT INTO _publications (path, place, definition, file_ms, written_at)
    VALUES (${'path'}, ${'place'}, ${'definition'}, ${'file_ms'}, ${'now'})
    ON CONFLICT (path) DO UPDATE SET place = excluded.place, definition = excluded.definition, file_ms = excluded.file_ms,
      written_at = excluded.written_at, failing_since = NULL, failures = 0, code = NULL, error = NULL, remedy = NULL`;
  readonly #failed = statement(this.db)<{
    path: string;
    now: string;
    code: string;
    error: string;
    remedy: string | null;
  }>`
    INSERT INTO _publications (path, failing_since, failed_at, failures, code, error, remedy)
    VALUES (${'path'}, ${'now'}, ${'now'}, 1, ${'code'}, ${'error'}, ${'remedy'})
    ON CONFLICT (path) DO UPDATE SET failing_since = coalesce(_publications.failing_since, excluded.failing_since),
      failed_at = excluded.failed_at, failures = _publications.failures + 1, code = excluded.code, error = excluded.error,
      remedy = excluded.remedy`;

  /** The end of the change feed: a copy that is begun now holds everything up to there. */
  place(): Promise<string> {
    return this.database.read(() => latestCursor(this.database.connection));
  }

  find(path: string): Promise<PublicationRow | undefined> {
    return this.database.read(() => this.#find.get({ path }));
  }

  /** What is known of a publication, from now on also if it was never written: what is forgotten is noted with it. */
  register(path: string): Promise<PublicationRow> {
    return this.database.write(async () => {
      this.#register.send({ path });
      const row = await this.#find.get({ path });
      if (!row) throw new Error('The publication was not stored.');
      return row;
    });
  }

  wrote(path: string, state: PublishedState): Promise<void> {
    return this.database.writeWithoutSync(() => {
      this.#wrote.send({ path, ...state, now: timestamp(this.clock.now()) });
    });
  }

  failed(path: string, { code, message, remedy = null }: Failure): Promise<void> {
    return this.database.writeWithoutSync(() => {
      this.#failed.send({ path, code, error: message, remedy, now: timestamp(this.clock.now()) });
    });
  }
}

export interface PublicationReport extends Pick<
  PublicationRow,
  'path' | 'written_at' | 'failing_since' | 'failed_at' | 'failures' | 'code' | 'error' | 'remedy'
> {
  /** When the first change was learned that the file does not hold; null where there is none, or nobody can tell. */
  readonly behind_since: string | null;
}

/** What the mirror knows of its copies, whether the settings name them or not. */
export async function publicationReports(db: Connection): Promise<PublicationReport[]> {
  const all = statement(db)<None, PublicationRow>`SELECT ${publicationColumns} FROM _publications ORDER BY path`;
  const after = statement(db)<{ seq: number }, { at: string }>`
    SELECT valid_from AS at FROM _vendor_versions WHERE seq > ${'seq'} ORDER BY seq LIMIT 1`;
  return inOrder(
    await all.all({}),
    async ({ path, place, written_at, failing_since, failed_at, failures, code, error, remedy }) => {
      const seq = cursorParts(place ?? '')?.seq;
      const behind_since = seq === undefined ? null : ((await after.get({ seq }))?.at ?? null);
      return { path, written_at, failing_since, failed_at, failures, code, error, remedy, behind_since };
    },
  );
}

/** Takes what is there for something else than what was written, so that each is written again. Runs inside a transaction. */
export function writeAllAgain(db: Connection): void {
  statement(db)<None>`UPDATE _publications SET file_ms = min(coalesce(file_ms, 0), 0) - 1`.send({});
}
