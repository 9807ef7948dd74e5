/**
 * Reads by id what a complete sweep did not show: suspects first, then a few of those that lists hide and of those that are absent.
 *
 * A 404 in the service's own error form proves that a vendor is gone. Without that form it may come from a proxy in front of the service:
 * then it counts only between two answered reads of vendors that the list has just shown, or that were just answered. Whatever is
 * found absent is held against the breaker together, and applied afterwards.
 */
import { eachBounded } from '../../domain/lifecycle.ts';
import type { ReadStamp } from '../../domain/reading.ts';
import type { Attendance } from '../queue/attempt.ts';
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
  attendance: Attendance,
): Promise<UnseenById> {
  const others = [...hidden.slice(0, hiddenPerRun), ...absent.slice(0, absentPerRun)];
  const vendorids = [...suspects, ...others.map(({ vendorid }) => vendorid)];
  const read = await readById(engine, vendorids, listed, attendance);
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
  attendance: Attendance,
): Promise<ReadAbsences> {
  const absent = new Map<number, ReadStamp>();
  const refused = new Map<number, string>();
  const answered: number[] = [];
  let formless = new Map<number, ReadStamp>();

  const read = async (vendorid: number): Promise<void> => {
    const sighting = await engine.reader.read(vendorid, attendance);
    if (sighting.kind === 'record') {
      attendance.onVerdict?.(sighting.verdict);
      answered.push(vendorid);
    } else if (sighting.kind === 'refused') refused.set(vendorid, sighting.error.code);
    else (sighting.isProven ? absent : formless).set(vendorid, sighting.stamp);
  };
  const answersKnown = async (): Promise<boolean> => {
    for (const vendorid of [...listed, ...answered.slice(0, mostKnown)])
      if ((await engine.reader.read(vendorid, attendance)).kind === 'record') return true;
    return false;
  };

  await eachBounded(vendorids, engine.concurrency, read);
  if (formless.size > 0 && (await answersKnown())) {
    const again = [...formless.keys()];
    formless = new Map();
    await eachBounded(again, engine.concurrency, read);
    if (await answersKnown()) {
      for (const [vendorid, stamp] of formless) absent.set(vendorid, stamp);
      formless = new Map();
    }
  }
  return { absent, unproven: new Set(formless.keys()), refused };
}
