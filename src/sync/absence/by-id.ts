/**
 * Reads by id what a complete sweep did not show: suspects first, then some of the hidden and of the absent vendors.
 *
 * A 404 in the service's own error form proves that a vendor is gone. Another 404 may come from a proxy: it counts only between two
 * successful reads of vendors that the list has just shown or that were just read. Absences are checked against the breaker together, and
 * applied afterwards.
 */
import { eachBounded } from '../../domain/async/each-bounded.ts';
import type { ReadStamp } from '../../domain/reading.ts';
import type { AttemptOptions } from '../queue/attempt.ts';
import type { SyncAccount } from '../account/sync-account.ts';
import type { Unseen } from './unseen.ts';
import type { Run } from '../../store/records/run-record.ts';
import type { Finding } from '../../store/records/finding-record.ts';

interface ReadAbsences {
  /** Vendors that do not exist at the service, each with the reading that proved it. */
  readonly absent: ReadonlyMap<number, ReadStamp>;
  /** Vendors whose 404 proves nothing. */
  readonly unproven: ReadonlySet<number>;
  /** Vendors whose read was refused, with the error code. */
  readonly refused: ReadonlyMap<number, string>;
}

/** How many of the vendors that were just read are tried again to confirm an unproven 404. */
const mostKnown = 3;

/** The results of reading unlisted vendors by id. */
export interface UnseenById extends ReadAbsences {
  /** For hidden vendors that were not read: the lowest `read_seq` among them; undefined where all were read. */
  readonly unreadSeq: number | undefined;
}

/** Hidden and absent vendors are read again in portions, so that their changes are found too. */
const hiddenPerRun = 200;
const absentPerRun = 50;

/** Reads all suspects, and some hidden and absent vendors. Refused suspects become findings. @throws MirrorError of the service. */
export async function readUnseen(
  account: SyncAccount,
  run: Run,
  { suspects, hidden, absent }: Unseen,
  listed: readonly number[],
  options: AttemptOptions,
): Promise<UnseenById> {
  const others = [...hidden.slice(0, hiddenPerRun), ...absent.slice(0, absentPerRun)];
  const vendorids = [...suspects, ...others.map(({ vendorid }) => vendorid)];
  const read = await readById(account, vendorids, listed, options);
  const findings = suspects.flatMap((vendorid): Finding[] => {
    const code = read.refused.get(vendorid);
    return code === undefined ? [] : [{ kind: 'unreadable', vendorid, fields: { refused: code } }];
  });
  if (findings.length > 0) await account.mirror.findings.addFindings(run, findings);
  return { ...read, unreadSeq: hidden[hiddenPerRun]?.read_seq };
}

/** Reads the vendors, applies the answers and collects the absent ones. `listed` are vendors that the list has just shown. */
async function readById(
  account: SyncAccount,
  vendorids: Iterable<number>,
  listed: readonly number[],
  options: AttemptOptions,
): Promise<ReadAbsences> {
  const absent = new Map<number, ReadStamp>();
  const refused = new Map<number, string>();
  const answered: number[] = [];
  let unprovenAbsent = new Map<number, ReadStamp>();

  const read = async (vendorid: number): Promise<void> => {
    const found = await account.reader.read(vendorid, options);
    if (found.kind === 'record') {
      options.onVerdict?.(found.verdict);
      answered.push(vendorid);
    } else if (found.kind === 'refused') refused.set(vendorid, found.error.code);
    else (found.isProven ? absent : unprovenAbsent).set(vendorid, found.stamp);
  };
  const answersKnown = async (): Promise<boolean> => {
    for (const vendorid of [...listed, ...answered.slice(0, mostKnown)])
      if ((await account.reader.read(vendorid, options)).kind === 'record') return true;
    return false;
  };

  await eachBounded(vendorids, account.concurrency, read);
  if (unprovenAbsent.size > 0 && (await answersKnown())) {
    const secondRound = [...unprovenAbsent.keys()];
    unprovenAbsent = new Map();
    await eachBounded(secondRound, account.concurrency, read);
    if (await answersKnown()) {
      for (const [vendorid, stamp] of unprovenAbsent) absent.set(vendorid, stamp);
      unprovenAbsent = new Map();
    }
  }
  return { absent, unproven: new Set(unprovenAbsent.keys()), refused };
}
