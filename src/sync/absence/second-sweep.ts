/** A second sweep in one run, which agrees with the first about vendors that neither shows, or says why it agrees to nothing. */
import { sleep } from '../../domain/clock.ts';
import type { ReadStamp } from '../../domain/reading.ts';
import type { Engine } from '../account/engine.ts';
import { observe, type Observation, type ObservationOptions } from '../observe/observation.ts';
import type { Mark } from '../../store/records/mark-record.ts';

export interface SecondSweep {
  /** Numbered before it began. */
  readonly began: ReadStamp;
  /** Marks that were due then: it answers them where it agrees. */
  readonly marks: readonly Mark[];
  readonly observation: Observation;
  /** Why it agrees to nothing; undefined where it does. */
  readonly disagreement: string | undefined;
}

/** Sweeps once more, as soon as no copy of the list can be as old as `first`. */
export async function sweepAgain(
  engine: Engine,
  first: Observation,
  options: ObservationOptions,
): Promise<SecondSweep> {
  const { mirror, accountId, sync, clock } = engine;
  await sleep(clock, sync.lag, options.signal);
  const began = await mirror.takeStamp();
  const marks = await mirror.queue.dueMarks(accountId);
  const observation = await observe(engine, options);
  return { began, marks, observation, disagreement: disagreementOf(observation, first) };
}

function disagreementOf({ conclusion }: Observation, first: Observation): string | undefined {
  if (!conclusion.complete) return 'the second sweep could not be proven complete';
  // An empty list agrees to nothing, except to an empty one that a person has believed.
  return conclusion.shown === 0 && first.seen.size > 0 ? 'the second list was empty' : undefined;
}

/** Those of the vendors of which it agrees that they are not listed. */
export function alsoUnlisted(
  { observation, disagreement: refusal }: SecondSweep,
  vendorids: readonly number[],
): number[] {
  return refusal === undefined ? vendorids.filter((vendorid) => !observation.seen.has(vendorid)) : [];
}

/** What a person should know of as many suspects of which it decides nothing. */
export function describeUnresolved(open: number, { disagreement: refusal }: SecondSweep): string[] {
  if (refusal === undefined) return [];
  return [`${open === 1 ? '1 suspect stays' : `${open} suspects stay`} open: ${refusal}.`];
}
