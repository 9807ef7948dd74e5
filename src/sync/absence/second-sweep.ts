/** A second sweep within a run: it confirms that vendors are not listed, or says why it confirms nothing. */
import { sleep } from '../../domain/clock.ts';
import type { ReadStamp } from '../../domain/reading.ts';
import type { SyncAccount } from '../account/sync-account.ts';
import { observe, type Observation, type ObservationOptions } from '../observe/observation.ts';
import type { Mark } from '../../store/records/mark-record.ts';

export interface SecondSweep {
  /** Taken before the sweep began. */
  readonly began: ReadStamp;
  /** Marks that were due then; a confirming sweep settles them. */
  readonly marks: readonly Mark[];
  readonly observation: Observation;
  /** Why it confirms nothing; undefined where it does. */
  readonly disagreement: string | undefined;
}

/** Sweeps again after `sync.lag`, when no copy of the list can be as old as the first sweep. */
export async function sweepAgain(
  account: SyncAccount,
  first: Observation,
  options: ObservationOptions,
): Promise<SecondSweep> {
  const { mirror, accountId, sync, clock } = account;
  await sleep(clock, sync.lag, options.signal);
  const began = await mirror.takeStamp();
  const marks = await mirror.queue.dueMarks(accountId);
  const observation = await observe(account, options);
  return { began, marks, observation, disagreement: disagreementOf(observation, first) };
}

function disagreementOf({ conclusion }: Observation, first: Observation): string | undefined {
  if (!conclusion.complete) return 'the second sweep could not be proven complete';
  // An empty list confirms nothing, except another empty list that a person approved.
  return conclusion.shown === 0 && first.seen.size > 0 ? 'the second list was empty' : undefined;
}

/** The vendors that the second sweep did not list either. */
export function alsoUnlisted({ observation, disagreement }: SecondSweep, vendorids: readonly number[]): number[] {
  return disagreement === undefined ? vendorids.filter((vendorid) => !observation.seen.has(vendorid)) : [];
}

/** A note about the suspects that stay undecided. */
export function describeUnresolved(open: number, { disagreement }: SecondSweep): string[] {
  if (disagreement === undefined) return [];
  return [`${open === 1 ? '1 suspect stays' : `${open} suspects stay`} undecided: ${disagreement}.`];
}
