/**
 * Creates a vendor. The creation is recorded on disk before it is sent: where the answer or this process is lost, the service is searched
 * for the vendor before another of its name is created.
 *
 * The search is a sweep, and looks among the vendors that the mirror did not hold when it was sent (`_creations`), because a service may tidy
 * names. One that matches the request is the answer, and the command exits with 0. One whose name or another text is alike may
 * be it: it is shown, nothing is sent, and the command exits with 1. If the search fails, nothing is sent. `vendors create --again` creates
 * without a search.
 *
 * Whether a vendor may be the one that was asked for, although the service has tidied its name (blanks, case, accents, HTML entities and tags,
 * letters that it cannot store, its length): doubt counts as yes.
 */
import { withMessage, asMirrorError, MirrorError } from '../../domain/errors.ts';
import type { NewVendor } from '../../api/requests.ts';
import { sleep } from '../../domain/clock.ts';
import type { VendorReading } from '../../domain/reading.ts';
import { kept, textFields, Unreadable, type Vendor } from '../../domain/vendor.ts';
import type { SyncAccount } from '../sync-account.ts';
import {
  applyAnswer,
  type WriteReport,
  readAfterLag,
  sweepNow,
  notTaken,
  describeSent,
  type WriteOptions,
} from './answer.ts';
import type { OpenCreation } from '../../store/writes.ts';

/**
 * Creates a vendor at the service and in the mirror, unless an earlier creation has already succeeded, and reports it.
 * @throws MirrorError, with `mayBeDone` where it may have been created.
 */
export async function createVendor(
  account: SyncAccount,
  fields: NewVendor,
  { signal, again, by, tell }: WriteOptions,
): Promise<void> {
  const { mirror, accountId, vendors } = account;
  const { vendor_name } = fields;
  const close = async (report: WriteReport): Promise<void> => {
    await tell(report);
    await mirror.writes.endCreation(accountId, vendor_name);
  };
  // What differs from the request may be somebody else's: the creation stays open.
  const closeFound = (found: WriteReport): Promise<void> | void =>
    found.notTaken.length === 0 ? close(found) : tell(found);
  const earlier = again ? undefined : await mirror.writes.openCreation(accountId, vendor_name);
  const found = earlier && (await searchFirst(account, fields, earlier, signal));
  if (found) return closeFound(found);
  await mirror.writes.beginCreation(accountId, vendor_name, by);
  let answer: VendorReading;
  try {
    answer = await vendors.create(fields, { signal });
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    if (error.mayBeDone) return closeFound(await searchAfter(account, fields, error, signal));
    await mirror.writes.endCreation(accountId, vendor_name);
    throw error;
  }
  await close(await applyAnswer(account, fields, answer, signal));
}

const retryAdvice =
  'If you run the same command again, the service is searched first; --again creates the vendor without a search.';

async function searchFirst(
  account: SyncAccount,
  fields: NewVendor,
  earlier: OpenCreation,
  signal: AbortSignal,
): Promise<WriteReport | undefined> {
  try {
    return await search(account, fields, signal);
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    throw withMessage(
      error,
      `A creation of "${fields.vendor_name}" was sent ${describeSent(earlier)} and may have been carried out; the service could not be searched for it: ${error.message} Nothing was sent. ${retryAdvice}`,
    );
  }
}

async function searchAfter(
  account: SyncAccount,
  fields: NewVendor,
  doubt: MirrorError,
  signal: AbortSignal,
): Promise<WriteReport> {
  const open = await account.mirror.writes.openCreation(account.accountId, fields.vendor_name);
  if (!open || signal.aborted) throw withMessage(doubt, `${doubt.message} ${retryAdvice}`);
  let found: WriteReport | undefined;
  try {
    found = await search(account, fields, signal);
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    throw withMessage(
      doubt,
      `${doubt.message} The service could not be searched for it: ${error.message} ${retryAdvice}`,
    );
  }
  if (found) return { ...found, notes: [doubt.message, ...found.notes] };
  throw withMessage(doubt, `${doubt.message} The service does not show it yet. ${retryAdvice}`);
}

/** The most vendors that may be it and are read; several need a person anyway. */
const maxRead = 5;

/**
 * Sweeps the account and looks for a vendor that is new since the creation and may be it. One that differs from the request may be someone
 * else's: the creation stays open, and only `--again` creates another.
 * @throws MirrorError where there is none and the sweep was incomplete.
 */
async function search(account: SyncAccount, fields: NewVendor, signal: AbortSignal): Promise<WriteReport | undefined> {
  const { mirror, accountId, clock, sync } = account;
  // Lists may be made from copies that are older than the creation.
  await sleep(clock, sync.lag, signal);
  const failure = await sweepNow(account, signal).then(() => undefined, asMirrorError);
  const open = await mirror.writes.openCreation(accountId, fields.vendor_name);
  const candidates: { vendorid: number; name: string | null; differs: number }[] = [];
  for (const vendorid of open?.newSince ?? []) {
    const stored = await mirror.writes.storedVendor(accountId, vendorid);
    if (!stored || !mayBe(fields, stored.vendor)) continue;
    candidates.push({
      vendorid,
      name: kept(stored.vendor.vendor_name ?? null),
      differs: notTaken(fields, stored.vendor).length,
    });
  }
  candidates.sort((a, b) => a.differs - b.differs);
  let best: WriteReport | undefined;
  for (const { vendorid } of candidates.slice(0, maxRead)) {
    const missing = await missingFrom(account, fields, vendorid, signal);
    if (!best || missing.length < best.notTaken.length) best = { vendorid, notTaken: missing, notes: [] };
  }
  if (!best) {
    if (failure) throw failure;
    return undefined;
  }
  const { vendorid } = best;
  const name = candidates.find((candidate) => candidate.vendorid === vendorid)?.name ?? '';
  const isSame = name.trim() === fields.vendor_name.replaceAll('\0', '').trim();
  const others = candidates.length - 1;
  const note = [
    isSame
      ? `The service shows vendor ${vendorid} with that name, which was not in the mirror before, so it is taken to be the one that was created.`
      : `The service shows vendor ${vendorid}, "${name}", which was not in the mirror before and may be the one that was created.`,
    ...(others > 0 ? [`${others === 1 ? 'One other new vendor is' : `${others} other new vendors are`} alike.`] : []),
    'Nothing was sent again; --again creates another.',
  ].join(' ');
  return { ...best, notes: [note] };
}

async function missingFrom(
  account: SyncAccount,
  fields: NewVendor,
  vendorid: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const stored = await account.mirror.writes.storedVendor(account.accountId, vendorid);
  try {
    // Lists may leave fields out, so the vendor is read by id.
    return notTaken(fields, await readAfterLag(account, vendorid, signal));
  } catch (error) {
    if (!(error instanceof MirrorError) || !stored) throw error;
    return notTaken(fields, stored.vendor);
  }
}

/** What many vendors share, so that it tells none apart. */
const common: ReadonlySet<string> = new Set([
  'vendor_name',
  'language',
  'currency_code',
  'country',
  'province',
  'city',
]);

/** Whether the name is alike, or any other text that was sent and that tells vendors apart. */
export function mayBe(requested: NewVendor, shown: Vendor): boolean {
  const name = shown.vendor_name ?? '';
  if (name instanceof Unreadable || areNamesAlike(requested.vendor_name, name)) return true;
  return textFields.some((field) => {
    const sent: unknown = common.has(field) ? undefined : requested[field as keyof NewVendor];
    const there = shown[field];
    return typeof sent === 'string' && typeof there === 'string' && bare(sent) !== '' && bare(sent) === bare(there);
  });
}

/** Whether a service may have made `shown` of the name that was sent: the same letters and digits, the first of them, or more. */
export function areNamesAlike(sent: string, shown: string): boolean {
  // A name that was cut may end within an entity.
  const there = bare(withoutEntities(shown).replace(/&#?\w{0,6}$/, ''));
  return readings(sent).some((one) => (one === '' || there === '' ? one === there : isPart(one, there)));
}

function isPart(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one);
}

/** What may be left of a name: its letters without accents, written out, or without those that are not ASCII; with and without tags. */
function readings(name: string): string[] {
  const text = withoutEntities(name);
  return [text, text.replace(/<[^>]*>/g, ' ')].flatMap((one) => [
    bare(one),
    bare(one.replace(/[äöüåæøœ]/gi, (letter) => writtenOut[letter.toLowerCase()] ?? letter)),
    bare(one.replace(/[^\x20-\x7e]/g, '')),
  ]);
}

const writtenOut: Readonly<Record<string, string>> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  å: 'aa',
  æ: 'ae',
  ø: 'oe',
  œ: 'oe',
};

/** Letters and digits alone, without case and accents. */
function bare(text: string): string {
  const folded = text.normalize('NFKD').replace(/\p{M}+/gu, '');
  return folded
    .toUpperCase()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  szlig: 'ß',
  aelig: 'æ',
  oelig: 'œ',
};

/** HTML entities may stand in place of characters, and be escaped more than once. */
function withoutEntities(text: string): string {
  const decoded = text.replace(
    /&(?:#(\d{1,6})|#x([\da-f]{1,5})|(\w{2,6}));/gi,
    (whole: string, decimal?: string, hex?: string, name?: string) => {
      const accented = /^([a-z])(?:acute|grave|circ|uml|tilde|cedil|ring|slash|caron)$/i.exec(name ?? '')?.[1];
      if (name !== undefined) return entities[name.toLowerCase()] ?? accented ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
  return decoded === text ? text : withoutEntities(decoded);
}
