/**
 * Reads by id what a complete sweep did not show: suspects first, then a few of those that lists hide and of those that are absent.
 *
 * A 404 in the service's own error form proves that a vendor is gone. Without that form it may come from a proxy in front of the service:
 * then it counts only between two answered reads of vendors that the list has just shown, or that were just answered. Whatever is
 * found absent is held against the breaker together, and applied afterwards.
 */
import { eachBounded } from '../../domain/lifecycle.ts';
import type { ReadStamp } from '../../domain/reading.ts';
import type { AttemptOptions } from '../queue/attempt.ts';
import type { Engine } from '../account/engine.ts';
import type { Unseen } from './unseen.ts';
import type { Run } from '../../store/records/run-record.ts';
import type { Finding } from '../../store/records/finding-record.ts';

interface ReadAbsences {
  /** Vendors that the service does not know, by readings that prove it. */
  readonly absent: ReadonlyMap<number, ReadStamp>;
  /** Vendors that were answered with a 404 that proves nothing. */
  readonly unproven: ReadonlySet<number>;
  /** Vendors whose reading was refused, and by which error. */
  readonly refused: ReadonlyMap<number, string>;
}

/** Vendors that were just answered, of which one must be answered again. */
const mostKnown = 3;

/** What readings by id said of vendors that no list showed. */
export interface UnseenById extends ReadAbsences {
  /** Hidden vendors that were not read: the highest number of a reading that none of them has passed; undefined for none. */
  readonly unreadSeq: number | undefined;
}

/** Vendors that lists hide, and vendors that are absent, are read again a few at a time, so that a change of theirs is found too. */
const hiddenPerRun = 200;
const absentPerRun = 50;

/** Reads each suspect, and some of the hidden and the absent; a suspect whose reading is refused becomes a finding. @throws MirrorError of the service. */
export async function readUnseen(
  engine: Engine,
  run: Run,
  { suspects, hidden, absent }: Unseen,
  listed: readonly number[],
  options: AttemptOptions,
): Promise<UnseenById> {
  const others = [...hidden.slice(0, hiddenPerRun), ...absent.slice(0, absentPerRun)];
  const vendorids = [...suspects, ...others.map(({ vendorid }) => vendorid)];
  const read = await readById(engine, vendorids, listed, options);
  const findings = suspects.flatMap((vendorid): Finding[] => {
    const code = read.refused.get(vendorid);
    return code === undefined ? [] : [{ kind: 'unreadable', vendorid, fields: { refused: code } }];
  });
  if (findings.length > 0) await engine.mirror.findings.addFindings(run, findings);
  return { ...read, unreadSeq: hidden[hiddenPerRun]?.read_seq };
}

/** Reads the vendors, applies what is answered, and tells which are not there. `listed` are vendors that the list has just shown. */
async function readById(
  engine: Engine,
  vendorids: Iterable<number>,
  listed: readonly number[],
  options: AttemptOptions,
): Promise<ReadAbsences> {
  const absent = new Map<number, ReadStamp>();
  const refused = new Map<number, string>();
  const answered: number[] = [];
  let unprovenAbsent = new Map<number, ReadStamp>();

  const read = async (vendorid: number): Promise<void> => {
    const found = await engine.reader.read(vendorid, options);
    if (found.kind === 'record') {
      options.onVerdict?.(found.verdict);
      answered.push(vendorid);
    } else if (found.kind === 'refused') refused.set(vendorid, found.error.code);
    else (found.isProven ? absent : unprovenAbsent).set(vendorid, found.stamp);
  };
  const answersKnown = async (): Promise<boolean> => {
    for (const vendorid of [...listed, ...answered.slice(0, mostKnown)])
      if ((await engine.reader.read(vendorid, options)).kind === 'record') return true;
    return false;
  };

  await eachBounded(vendorids, engine.concurrency, read);
  if (unprovenAbsent.size > 0 && (await answersKnown())) {
    const secondRound = [...unprovenAbsent.keys()];
    unprovenAbsent = new Map();
    await eachBounded(secondRound, engine.concurrency, read);
    if (await answersKnown()) {
      for (const [vendorid, stamp] of unprovenAbsent) absent.set(vendorid, stamp);
      unprovenAbsent = new Map();
    }
  }
  return { absent, unproven: new Set(unprovenAbsent.keys()), refused };
}
