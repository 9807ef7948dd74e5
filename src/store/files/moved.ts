/**
 * Where the mirror of a file was moved to. From then on the file can be read, and nothing is written into it, by no command and no daemon:
 * two that go on from one state would register, sweep and send the same things twice.
 *
 * The row is written before the other place is complete, and on disk: killed in between, the file says that it was moved where nothing is
 * yet, and the next `copy` goes on from there. The other way round, both would work for a moment.
 */
import { MirrorError } from '../../domain/errors.ts';
import { statement, type Connection, type None } from '../sql/statement.ts';

export interface Move {
  /** As messages name it. */
  readonly place: string;
  /** Timestamp of ours. */
  readonly moved_at: string;
}

/** Undefined while the mirror is here. */
export function moveOf(db: Connection): Promise<Move | undefined> {
  return statement(db)<None, Move>`SELECT place, moved_at FROM _moved`.get({});
}

/** Runs inside a transaction. */
export function noteMove(db: Connection, move: Move): void {
  statement(db)<Move>`
    INSERT INTO _moved (id, place, moved_at) VALUES (1, ${'place'}, ${'moved_at'})
    ON CONFLICT (id) DO UPDATE SET place = excluded.place, moved_at = excluded.moved_at`.send(move);
}

/** Runs inside a transaction. @returns whether it had been moved. */
export async function takeBackMove(db: Connection): Promise<boolean> {
  return (await statement(db)<None>`DELETE FROM _moved`.run({})) > 0;
}

/** @param path of the file @throws MirrorError `database_unusable` where the mirror was moved. */
export async function refuseMoved(db: Connection, path: string): Promise<void> {
  const move = await moveOf(db);
  if (!move) return;
  throw new MirrorError(
    'database_unusable',
    `The mirror ${path} was moved to ${move.place} at ${move.moved_at.slice(0, 19)} UTC.`,
    {
      remedy: `Name that as \`database\` in the settings. If nothing is there because the move did not end, run the same \`vendor-mirror copy\` again; \`vendor-mirror copy --undo\` lets this file go on instead.`,
    },
  );
}
