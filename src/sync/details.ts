/**
 * Reads vendors by id for what lists leave out. After a complete run, a few listed vendors are read to find out whether lists leave anything
 * out; where they do, first the vendors that are new or whose listed row changed are read, then some of all others, longest unread first.
 *
 * Where lists carry every field, this is one request a run; none where it is not known that the service offers reads by id.
 */
import { eachBounded } from '../domain/concurrency.ts';
import { MirrorError } from '../domain/errors.ts';
import type { Run } from '../store/runs.ts';
import { tryRead, type AttemptOptions } from './attempt.ts';
import type { IdSet } from './sweep/id-set.ts';
import type { SyncAccount } from './sync-account.ts';

/** Listed vendors that are read to find out: after the first complete run, after each other one, and once one of them showed something. */
const probes = { first: 20, later: 1, further: 60 };

/** Vendors that are read after one run: new and changed ones, and of all others. */
const duePerRun = 2_000;
const othersPerRun = 200;

export interface DetailsOptions extends AttemptOptions {
  readonly run: Run;
  /** The vendors that the lists of the run showed. */
  readonly seen: IdSet;
  /** Whether no run was complete before. */
  readonly isFirst: boolean;
}

/** Finds out what lists leave out, and reads it. A failure of the service ends it: the next run goes on. */
export async function readDetails(account: SyncAccount, options: DetailsOptions): Promise<void> {
  try {
    await readAll(account, options);
  } catch (error) {
    if (!(error instanceof MirrorError) && !options.signal.aborted) throw error;
  }
}

async function readAll(account: SyncAccount, options: DetailsOptions): Promise<void> {
  const { mirror, accountId, reader } = account;
  const { seen, run, isFirst } = options;
  const ids = [...seen];
  if (ids.length === 0 || !reader.isKnownToBeOffered) return;
  let fields = await mirror.details.fields(accountId);
  const known = fields.length;
  if (known === 0) {
    await readEach(account, spread(ids, isFirst ? probes.first : probes.later, run.id), options);
    if (await mirror.details.isSuspected(accountId))
      await readEach(account, spread(ids, probes.further, run.id + 1), options);
    fields = await mirror.details.fields(accountId);
  }
  const next = await mirror.details.next(accountId, 1);
  if (fields.length === 0) return next.length > 0 ? mirror.details.release(accountId) : undefined;
  if (known === 0) await mirror.details.enrol(run, fields);
  const waiting = await mirror.details.next(accountId, duePerRun + othersPerRun);
  const due = waiting.filter(({ isDue }) => isDue).slice(0, duePerRun);
  const others = waiting.filter(({ isDue }) => !isDue).slice(0, othersPerRun);
  await readEach(
    account,
    [...due, ...others].map(({ vendorid }) => vendorid),
    options,
  );
}

async function readEach(account: SyncAccount, vendorids: readonly number[], options: DetailsOptions): Promise<void> {
  await eachBounded(vendorids, account.concurrency, async (vendorid) => {
    const found = await tryRead(account, vendorid, options);
    // The service as a whole fails: it is not asked for the others now.
    if (found.kind === 'refused' && found.error.code === 'service_unreachable') throw found.error;
  });
}

/** So many of the ids, spread evenly; others in each turn. */
function spread(ids: readonly number[], count: number, turn: number): number[] {
  const step = Math.max(1, Math.floor(ids.length / count));
  const picked = Array.from(
    { length: Math.min(count, ids.length) },
    (_, nth) => ids[(turn * 7 + nth * step) % ids.length],
  );
  return [...new Set(picked.filter((id) => id !== undefined))];
}
