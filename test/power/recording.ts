/** A stretch of the program's life, as the disk saw it, and every state in which a loss of power could have left that disk. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom, seedOf } from '../../src/sandbox/core/random.ts';
import { Disk } from './disk.ts';
import { readNotes, type Note } from './notes.ts';
import type { Answer } from './tapped.ts';

/** An answer, and the process that gave it: ports are used again. */
export interface AnswerOf extends Answer {
  readonly process: number;
}

export interface Recording {
  readonly folder: string;
  /** What was in the folder when it began. */
  readonly before: ReadonlyMap<string, Buffer>;
  readonly notes: readonly Note[];
  readonly answers: readonly AnswerOf[];
}

export interface State {
  /** For a message: which state of which seed. */
  readonly name: string;
  readonly files: ReadonlyMap<string, Buffer>;
  /** Deliveries whose 2xx had left when the power failed. */
  readonly acknowledged: readonly number[];
  /** How many 2xx had left. */
  readonly answered: number;
}

export function filesIn(folder: string): Map<string, Buffer> {
  const names = readdirSync(folder).filter((name) => !name.endsWith('-shm'));
  return new Map(names.map((name) => [join(folder, name), readFileSync(join(folder, name))]));
}

export function recorded(log: string, rest: Omit<Recording, 'notes'>): Recording {
  return { ...rest, notes: readNotes(log) };
}

/** `count` states, at moments that follow from the seed; half of them right after an answer has left, where there are answers. */
export function* statesOf({ before, notes, answers }: Recording, seed: number, count: number): Generator<State> {
  const random = seededRandom(seedOf(seed, 'moments'));
  const answered = notes.flatMap((note, index) => (note.kind === 'answered' ? [index + 1] : []));
  const moments = Array.from({ length: count }, (_, index) =>
    index % 2 === 0 && answered.length > 0 ? random.pick(answered) : random.below(notes.length + 1),
  ).sort((one, other) => one - other);
  const disk = new Disk(before);
  const deliveryOf = new Map(
    answers.map(({ process, port, nth, delivery }) => [`${process} ${port} ${nth}`, delivery]),
  );
  const onConnection = new Map<string, number>();
  const acknowledged: number[] = [];
  let [replayed, sofar] = [0, 0];
  for (const [index, moment] of moments.entries()) {
    for (; replayed < moment; replayed++) {
      const note = notes[replayed]!;
      disk.replay(note);
      if (note.kind !== 'answered') continue;
      sofar += 1;
      const connection = `${note.process} ${note.port}`;
      const nth = (onConnection.get(connection) ?? 0) + 1;
      onConnection.set(connection, nth);
      const delivery = deliveryOf.get(`${connection} ${nth}`);
      if (delivery !== undefined) acknowledged.push(delivery);
    }
    const name = `seed ${seed}, state ${index}, after ${moment} of ${notes.length} notes`;
    const files = disk.cut(seededRandom(seedOf(seed, 'state', index)));
    yield { name, files, acknowledged: [...acknowledged], answered: sofar };
  }
}
