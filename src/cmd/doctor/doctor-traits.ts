/**
 * What `doctor` reports about the points that the service's documentation leaves open, one line each, for the first account. The mirror is correct
 * with every answer; they help a person to understand what looks odd.
 */
import { inWords } from '../../domain/duration.ts';
import { asMirrorError, type MirrorError } from '../../domain/errors.ts';
import type { ServedAccount } from '../../app/installation.ts';
import type { VendorPage, VendorRow } from '../../domain/reading.ts';
import { parseInstant } from '../../domain/clock.ts';
import { counted } from '../terminal/counted.ts';
import { fine, problem, warning, type Checkup } from './checkup.ts';

type TraitCheck = (account: ServedAccount, first: VendorPage, signal: AbortSignal) => Promise<Checkup> | Checkup;

const traits: readonly (readonly [check: string, find: TraitCheck])[] = [
  ['page size', pageSize],
  ['filter by state', stateFilter],
  ['deleted vendors', deletedVendors],
  ['order of lists', order],
  ['past the last page', pastTheEnd],
  ['total', total],
  ['time stamps', stamps],
  ['fields', fields],
];

export async function* traitCheckups(
  account: ServedAccount,
  first: VendorPage,
  signal: AbortSignal,
): AsyncGenerator<Checkup> {
  for (const [check, find] of traits) {
    try {
      yield await find(account, first, signal);
    } catch (error) {
      yield problem(check, asMirrorError(error));
    }
  }
}

async function pageSize({ client }: ServedAccount, first: VendorPage, signal: AbortSignal): Promise<Checkup> {
  const size = Math.max(1, Math.floor(first.rows.length / 2));
  const { rows } = await client.vendors.page(1, { size, signal });
  const taken = rows.length <= size;
  return fine(
    'page size',
    taken
      ? 'The service sends pages of the size that is requested.'
      : `The service chooses the size of a page itself: ${rows.length} rows where ${size} were requested.`,
  );
}

async function stateFilter({ client }: ServedAccount, first: VendorPage, signal: AbortSignal): Promise<Checkup> {
  const check = 'filter by state';
  const { rows, total: found } = await client.vendors.page(1, { visState: 2, signal });
  const isHonoured = states(rows).every((state) => state === 2) && (found !== first.total || first.total === 0);
  if (isHonoured) return fine(check, 'The service lists vendors of one state when asked.');
  return warning(
    check,
    'The service ignores the filter by state (search[vis_state]).',
    'Nothing to do: vendors that lists hide are read one by one, which takes more requests.',
  );
}

async function deletedVendors({ client }: ServedAccount, first: VendorPage, signal: AbortSignal): Promise<Checkup> {
  const check = 'deleted vendors';
  const { rows } = await client.vendors.page(1, { visState: 1, signal });
  const deleted = rows.find((row) => row.vendor().vis_state === 1);
  const shown = states(first.rows).includes(1)
    ? 'Lists show deleted vendors.'
    : 'The first page shows no deleted vendor.';
  if (!deleted) return fine(check, `${shown} When asked for deleted vendors, the service lists none.`);
  const read = await client.vendors.read(deleted.vendorid, { signal }).then(
    () => 'can be read by its number',
    (error: unknown) => `cannot be read by its number (${asMirrorError(error).code})`,
  );
  return fine(check, `${shown} Vendor ${deleted.vendorid}, which is deleted, ${read}.`);
}

async function order({ client }: ServedAccount, first: VendorPage, signal: AbortSignal): Promise<Checkup> {
  const check = 'order of lists';
  const again = await client.vendors.page(1, { signal });
  const [before, after] = [first, again].map(({ rows }) => rows.map(({ vendorid }) => vendorid).join());
  if (before !== after && first.total === again.total)
    return warning(
      check,
      'The first page changed when it was requested again.',
      'Nothing to do: sweeps walk such a list several times. If no vendor changed just now, ask the service for a stable order.',
    );
  const found = [
    ['by number, ascending', isSorted(first.rows, ({ vendorid }) => vendorid)],
    ['by number, descending', isSorted(first.rows, ({ vendorid }) => -vendorid)],
    ['by time of change, the oldest first', isSorted(first.rows, (row) => changed(row))],
    ['by time of change, the newest first', isSorted(first.rows, (row) => -changed(row))],
  ] as const;
  const [name] = found.find(([, fits]) => fits) ?? ['in an order of its own'];
  return fine(
    check,
    first.rows.length < 3 ? 'There are too few vendors to tell.' : `The first page is sorted ${name}.`,
  );
}

async function pastTheEnd({ client }: ServedAccount, { pages }: VendorPage, signal: AbortSignal): Promise<Checkup> {
  const check = 'past the last page';
  try {
    const { rows } = await client.vendors.page(pages + 1, { signal });
    return fine(
      check,
      rows.length === 0
        ? 'The service answers with an empty page.'
        : `The service answers with ${counted(rows.length, 'row')}; sweeps never request such a page.`,
    );
  } catch (error) {
    const { code } = asMirrorError(error);
    if (code !== 'not_found' && code !== 'rejected' && code !== 'not_supported') throw error;
    return fine(check, `The service refuses it (${code}); sweeps never request such a page.`);
  }
}

function total(_: ServedAccount, { total: counts, pages, rows }: VendorPage): Checkup {
  const check = 'total';
  if (pages > 1) return fine(check, `The service counts ${counted(counts, 'vendor')} on ${counted(pages, 'page')}.`);
  const shown = counts === rows.length ? 'as many as it shows' : `but shows ${rows.length}`;
  return fine(check, `The service counts ${counted(counts, 'vendor')}, ${shown}.`);
}

function stamps(_: ServedAccount, { rows, servedAt }: VendorPage): Checkup {
  const check = 'time stamps';
  const newest = Math.max(...rows.map((row) => changed(row)));
  if (servedAt === undefined)
    return fine(check, 'The service does not send its time, so timestamps cannot be compared with it.');
  if (!Number.isFinite(newest)) return fine(check, 'No vendor of the first page says when it was changed.');
  const ahead = newest - servedAt;
  if (ahead <= stampTolerance)
    return fine(
      check,
      `The newest one on the first page is ${inWords(-Math.min(ahead, 0))} old by the service's own clock.`,
    );
  return warning(
    check,
    `The newest one on the first page is ${inWords(ahead)} ahead of the service's own clock: timestamps may be in local time.`,
    'Nothing to do: the order of readings never depends on them.',
  );
}

/** Stamps have whole seconds, and so has a Date header; in milliseconds. */
const stampTolerance = 5_000;

async function fields({ client }: ServedAccount, { rows: [row] }: VendorPage, signal: AbortSignal): Promise<Checkup> {
  const check = 'fields';
  if (!row) return fine(check, 'There is no vendor to compare.');
  try {
    const single = await client.vendors.read(row.vendorid, { signal });
    const [listed, alone] = [keysOf(row), keysOf(single.row)];
    const missing = alone.filter((key) => !listed.includes(key));
    return fine(
      check,
      missing.length === 0
        ? 'Lists carry every field that a read by number does.'
        : `Lists lack ${missing.join(', ')}, which a read by number carries.`,
    );
  } catch (error) {
    const known = asMirrorError(error);
    if (!isNotOffered(known)) throw known;
    return fine(check, 'Vendors cannot be read by number, so there is nothing to compare with.');
  }
}

function isNotOffered({ code }: MirrorError): boolean {
  return code === 'not_found' || code === 'not_supported';
}

function states(rows: readonly VendorRow[]): unknown[] {
  return rows.map((row) => row.vendor().vis_state);
}

/** When a vendor was changed, in milliseconds since 1970; NaN where it does not say. */
function changed(row: VendorRow): number {
  return parseInstant(row.vendor().updated_at ?? '') ?? NaN;
}

function keysOf({ raw }: VendorRow): string[] {
  return Object.keys(JSON.parse(raw) as object);
}

function isSorted(rows: readonly VendorRow[], by: (row: VendorRow) => number): boolean {
  const keys = rows.map(by);
  return keys.every((key, index) => index === 0 || (keys[index - 1] ?? NaN) <= key);
}
