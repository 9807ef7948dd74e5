/**
 * `doctor` on one account of the service: whether it gives access, what it does where its documentation is open, and whether our callbacks
 * are verified and lead here.
 *
 * What the service does (page size, filters, deleted vendors, order, the page past the last, `total`, time stamps, fields) is looked up for
 * the first account only, with requests that read. None of it is a fault, because the mirror is correct with each; what costs requests or is
 * unusual is a warning with "Nothing to do".
 */
import type { Installation, ServedAccount } from '../app/installation.ts';
import { parseInstant } from '../domain/clock.ts';
import { inWords } from '../domain/duration.ts';
import { asMirrorError, exitStatus, MirrorError, type ErrorCode } from '../domain/errors.ts';
import { isDeclined } from '../domain/optional-requests.ts';
import type { VendorPage, VendorRow } from '../domain/reading.ts';
import { kept, type Callback } from '../domain/vendor.ts';
import { counted } from '../domain/size.ts';
import {
  leadsElsewhere,
  notRegistered,
  notVerified,
  registrationRefused,
  type Undelivered,
  unknownCallbacksRemedy,
  unknownCallbacksText,
} from '../health/callbacks.ts';
import { isBelow } from '../webhook/address.ts';
import { isOwn } from './callbacks.ts';
import { certificateCheckup, fine, problem, warning, type Checkup } from './doctor-checkup.ts';
import { isDaemonThere } from './open-mirror.ts';
import type { ProcessContext } from './process/process-context.ts';

/** Checks an account; where its list cannot be read, nothing further makes sense. */
export async function* serviceCheckups(
  context: ProcessContext,
  installation: Installation,
  accountId: string,
): AsyncGenerator<Checkup> {
  /** What is the same for all accounts is reported for the first one. */
  const isFirst = installation.accounts[0] === accountId;
  const account = installation.account(accountId);
  const signal = context.interrupted;
  if (isFirst) yield* proxyCheckup(context, installation.settings.service.baseUrl ?? '');
  let first: VendorPage;
  try {
    first = await account.client.vendors.page(1, { signal });
  } catch (error) {
    yield problem('access', asMirrorError(error));
    return;
  }
  const { total, pages, perPage } = first;
  const skew = first.servedAt === undefined ? undefined : context.clock.now() - first.servedAt;
  if (isFirst) {
    const certificate = await certificateCheckup('certificate', context, installation.settings.service.baseUrl ?? '');
    if (certificate) yield certificate;
  }
  yield fine('access', `The token can read ${counted(total, 'vendor')}, on ${counted(pages, 'page')} of ${perPage}.`);
  yield clock(skew);
  yield await attempt('paging', () => paging(account, first, signal));
  yield await attempt('reads by number', () => readsByNumber(installation, account, first, signal));
  yield await attempt('gateways', () => gateways(installation, account, signal));
  let listed: readonly Callback[] = [];
  // Few requests about callbacks are allowed a minute, and without a public address one shows what the token may do.
  if (isFirst || installation.settings.listener.publicUrl !== null)
    yield await attempt('callbacks', async () => {
      listed = await account.client.callbacks.list({}, { signal });
      return callbackCheckup(context, installation, accountId, listed);
    });
  const unknown = await unknownCallbacksCheckup(installation, accountId, listed);
  if (unknown) yield unknown;
  const objects = await callbackIdCheckup(installation, accountId);
  if (objects) yield objects;
  if (isFirst) yield* traitCheckups({ client: account.client, first, signal });
}

/** How the service is reached, where that is not directly. */
async function* proxyCheckup({ proxyOf }: ProcessContext, baseUrl: string): AsyncGenerator<Checkup> {
  const url = new URL(baseUrl);
  try {
    const proxy = await proxyOf(url);
    if (proxy) yield fine('proxy', `Requests to ${url.host} go through the proxy ${proxy.host}.`);
  } catch {
    // The first request fails by the same error.
  }
}

async function attempt(check: string, examine: () => Promise<Checkup>): Promise<Checkup> {
  try {
    return await examine();
  } catch (error) {
    return problem(check, asMirrorError(error));
  }
}

/** If the clocks differ by more than this, findings may be wrong about which change was announced when; in milliseconds. */
const muchSkew = 5_000;

export const clockCheck = 'clock';

function clock(skew: number | undefined): Checkup {
  const check = clockCheck;
  if (skew === undefined) return fine(check, 'The service does not send its time.');
  const seconds = Math.round(Math.abs(skew) / 1_000);
  if (Math.abs(skew) <= muchSkew) return fine(check, 'The clocks of this machine and of the service agree.');
  const direction = skew > 0 ? 'ahead of' : 'behind';
  return warning(
    check,
    `The clock of this machine is ${seconds} s ${direction} that of the service.`,
    'Synchronise the clock of this machine with NTP.',
  );
}

async function paging({ client }: ServedAccount, first: VendorPage, signal: AbortSignal): Promise<Checkup> {
  const check = 'paging';
  if (first.pages < 2) return fine(check, 'There is only one page, so paging cannot be checked.');
  const second = await client.vendors.page(2, { signal });
  const seen = new Set(first.rows.map(({ vendorid }) => vendorid));
  if (second.page === 2 && second.rows.some(({ vendorid }) => !seen.has(vendorid)))
    return fine(check, 'The second page differs from the first.');
  return problem(check, new MirrorError('paging_ignored', 'The service answers the second page with the first.'));
}

async function readsByNumber(
  { settings }: Installation,
  { client }: ServedAccount,
  { rows }: VendorPage,
  signal: AbortSignal,
): Promise<Checkup> {
  const check = 'reads by number';
  const { readOne } = settings.service;
  if (readOne === 'sweep') return fine(check, 'Not used: service.readOne is sweep.');
  if (rows.length === 0) return fine(check, 'There is no vendor to try it with.');
  // One may have been deleted since it was listed.
  const tried = rows.slice(0, 3).map(({ vendorid }) => vendorid);
  let refusal: MirrorError | undefined;
  for (const vendorid of tried)
    try {
      await client.vendors.read(vendorid, { signal });
      return fine(check, `The service answers for vendor ${vendorid}.`);
    } catch (caught) {
      const error = asMirrorError(caught);
      if (!is(error, 'not_found', 'not_supported')) throw error;
      refusal ??= error;
    }
  const which = tried.length === 1 ? `vendor ${tried.join()}` : `vendors ${tried.join(', ')}`;
  const message = `The service lists ${which}, but does not answer when read by number.`;
  const exit = refusal?.exit ?? exitStatus.unavailable;
  if (readOne === 'get') return problem(check, { message, hint: 'Set service.readOne to auto or sweep.', exit });
  return warning(check, message, 'Nothing to do: vendors named by webhooks are read by a sweep.');
}

async function gateways({ settings }: Installation, { client }: ServedAccount, signal: AbortSignal): Promise<Checkup> {
  const check = 'gateways';
  if (settings.service.gateways === 'never') return fine(check, 'Not mirrored: service.gateways is never.');
  try {
    const listed = await client.gateways.list({ signal });
    return fine(check, `The token can read ${counted(listed.length, 'gateway')}.`);
  } catch (caught) {
    const error = asMirrorError(caught);
    if (!isDeclined(error)) throw error;
    return warning(
      check,
      error.message,
      error.code === 'access_denied'
        ? 'To mirror gateways, the token needs the scope user:online_payments:read. Without them, set service.gateways to never.'
        : 'What the mirror holds of them stays as it was, and they are asked for again, at least once a day. To do without, set service.gateways to never.',
    );
  }
}

function is({ code }: MirrorError, ...codes: readonly ErrorCode[]): boolean {
  return codes.includes(code);
}

interface Lookup {
  readonly check: string;
  readonly client: ServedAccount['client'];
  readonly first: VendorPage;
  readonly signal: AbortSignal;
}

type Find = (lookup: Lookup) => Promise<Checkup> | Checkup;

/** Each with how it is looked up, and whether the service may decline that. */
const traits: readonly (readonly [check: string, find: Find, isOptional?: boolean])[] = [
  ['page size', pageSize, true],
  ['filter by state', stateFilter, true],
  ['deleted vendors', deletedVendors, true],
  ['order of lists', order],
  ['past the last page', pastTheEnd],
  ['total', total],
  ['time stamps', stamps],
  ['fields', fields],
];

/**
 * What `doctor` reports about the points that the service's documentation leaves open, one line each, for the first account. The mirror is correct
 * with every answer; they help a person to understand what looks odd.
 */
async function* traitCheckups(lookup: Omit<Lookup, 'check'>): AsyncGenerator<Checkup> {
  for (const [check, find, isOptional = false] of traits) {
    try {
      yield await find({ ...lookup, check });
    } catch (caught) {
      const error = asMirrorError(caught);
      yield isOptional && isDeclined(error)
        ? warning(
            check,
            error.message,
            'Nothing to do: the service declines what is optional; the mirror does without it.',
          )
        : problem(check, error);
    }
  }
}

async function pageSize({ check, client, first, signal }: Lookup): Promise<Checkup> {
  const size = Math.max(1, Math.floor(first.rows.length / 2));
  const { rows } = await client.vendors.page(1, { size, signal });
  const taken = rows.length <= size;
  return fine(
    check,
    taken
      ? 'The service sends pages of the size that is requested.'
      : `The service chooses the size of a page itself: ${rows.length} rows where ${size} were requested.`,
  );
}

async function stateFilter({ check, client, first, signal }: Lookup): Promise<Checkup> {
  const { rows, total: found } = await client.vendors.page(1, { visState: 2, signal });
  const isHonoured = states(rows).every((state) => state === 2) && (found !== first.total || first.total === 0);
  if (isHonoured) return fine(check, 'The service lists vendors of one state when asked.');
  return warning(
    check,
    'The service ignores the filter by state (search[vis_state]).',
    'Nothing to do: vendors that lists hide are read one by one, which takes more requests.',
  );
}

async function deletedVendors({ check, client, first, signal }: Lookup): Promise<Checkup> {
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

async function order({ check, client, first, signal }: Lookup): Promise<Checkup> {
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

async function pastTheEnd({ check, client, first, signal }: Lookup): Promise<Checkup> {
  const { pages } = first;
  try {
    const { rows } = await client.vendors.page(pages + 1, { signal });
    if (rows.length === 0) return fine(check, 'The service answers with an empty page.');
    const last = pages > 1 ? await client.vendors.page(pages, { signal }) : first;
    const known = new Set([...first.rows, ...last.rows].map(({ vendorid }) => vendorid));
    const more = rows.filter(({ vendorid }) => !known.has(vendorid)).length;
    if (more === 0) return fine(check, `The service answers with ${counted(rows.length, 'row')} of another page.`);
    return problem(check, {
      message: `Page ${pages + 1} of ${pages} shows ${counted(more, 'vendor')} that are on no page before: the service lists more than it counts.`,
      hint: 'Report it to the service. Sweeps go on until they see the end of the list, so these vendors are mirrored.',
      exit: exitStatus.incomplete,
    });
  } catch (error) {
    const known = asMirrorError(error);
    if (!is(known, 'not_found', 'rejected', 'not_supported')) throw error;
    return fine(check, `The service refuses it (${known.code}).`);
  }
}

function total({ check, first: { total: counts, pages, rows } }: Lookup): Checkup {
  if (pages > 1) return fine(check, `The service counts ${counted(counts, 'vendor')} on ${counted(pages, 'page')}.`);
  const shown = counts === rows.length ? 'as many as it shows' : `but shows ${rows.length}`;
  return fine(check, `The service counts ${counted(counts, 'vendor')}, ${shown}.`);
}

function stamps({ check, first: { rows, servedAt } }: Lookup): Checkup {
  const told = rows.map((row) => changed(row)).filter((moment) => !Number.isNaN(moment));
  const newest = Math.max(...told);
  const silent = rows.length - told.length;
  const without =
    silent === 0 ? '' : ` ${counted(silent, 'vendor')} of it ${silent === 1 ? 'does' : 'do'} not say when changed.`;
  if (servedAt === undefined)
    return fine(check, 'The service does not send its time, so timestamps cannot be compared with it.');
  if (!Number.isFinite(newest)) return fine(check, 'No vendor of the first page says when it was changed.');
  const ahead = newest - servedAt;
  if (ahead <= stampTolerance)
    return fine(
      check,
      `The newest one on the first page is ${inWords(-Math.min(ahead, 0))} old by the service's own clock.${without}`,
    );
  return warning(
    check,
    `The newest one on the first page is ${inWords(ahead)} ahead of the service's own clock: timestamps may be in local time.${without}`,
    'Nothing to do: the order of readings never depends on them.',
  );
}

/** Stamps have whole seconds, and so has a Date header; in milliseconds. */
const stampTolerance = 5_000;

/** How many vendors of the first page are compared: an empty field may be left out of the answer about one. */
const compared = 8;

async function fields({ check, client, first: { rows }, signal }: Lookup): Promise<Checkup> {
  if (rows.length === 0) return fine(check, 'There is no vendor to compare.');
  const step = Math.max(1, Math.floor(rows.length / compared));
  const sample = rows.filter((_, index) => index % step === 0).slice(0, compared);
  const listed = new Set(rows.flatMap(keysOf));
  const missing = new Set<string>();
  const otherwise = new Map<string, number>();
  let read = 0;
  for (const shown of sample)
    try {
      const { row } = await client.vendors.read(shown.vendorid, { signal });
      for (const key of shownOtherwise(shown, row)) otherwise.set(key, (otherwise.get(key) ?? 0) + 1);
      for (const key of keysOf(row)) if (!listed.has(key)) missing.add(key);
      read += 1;
    } catch (error) {
      const known = asMirrorError(error);
      if (!is(known, 'not_found', 'not_supported')) throw known;
    }
  if (read === 0) return fine(check, 'Vendors cannot be read by number, so there is nothing to compare with.');
  const by = `reads by number of ${counted(read, 'vendor')}`;
  // One vendor may have changed just now.
  const others = [...otherwise].filter(([, vendors]) => vendors > 1).map(([key]) => key);
  const lacks = missing.size === 0 ? [] : [`lack ${[...missing].sort().join(', ')}, which ${by} showed`];
  const shows = others.length === 0 ? [] : [`show ${others.sort().join(', ')} otherwise than ${by}`];
  const all = [...lacks, ...shows].join(', and ');
  return fine(check, all === '' ? `Lists carry every field that ${by} showed.` : `Lists ${all}.`);
}

/** Fields of a vendor that a list showed otherwise than a read by number did, without an edit. */
function shownOtherwise(listed: VendorRow, read: VendorRow): string[] {
  const [before, after] = [listed, read].map(({ raw }) => JSON.parse(raw) as Record<string, unknown>);
  if (!before || !after || before['updated_at'] !== after['updated_at']) return [];
  return Object.keys(before).filter(
    (key) => Object.hasOwn(after, key) && JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  );
}

function states(rows: readonly VendorRow[]): unknown[] {
  return rows.map((row) => kept(row.vendor().vis_state));
}

/** When a vendor was changed, in milliseconds since 1970; NaN where it does not say. */
function changed(row: VendorRow): number {
  return parseInstant(kept(row.vendor().updated_at) ?? '') ?? NaN;
}

function keysOf({ raw }: VendorRow): string[] {
  return Object.keys(JSON.parse(raw) as object);
}

function isSorted(rows: readonly VendorRow[], by: (row: VendorRow) => number): boolean {
  const keys = rows.map(by);
  return keys.every((key, index) => index === 0 || (keys[index - 1] ?? NaN) <= key);
}

const check = 'callbacks';

/** `doctor` on the callbacks of an account: whether one of ours is verified, leads here, and is understood. */
async function callbackCheckup(
  context: ProcessContext,
  installation: Installation,
  accountId: string,
  listed: readonly Callback[],
): Promise<Checkup> {
  const own = listed.filter(await isOwn(installation, accountId));
  const { publicUrl } = installation.settings.listener;
  if (publicUrl === null) return fine(check, `The token can read ${counted(listed.length, 'callback')}.`);
  const [refusal] = await installation.mirror.callbacks.refusals(accountId);
  if (refusal) return undelivered(registrationRefused(refusal, context.clock.now()));
  const here = own.filter(({ uri }) => isBelow(uri, publicUrl, accountId));
  const verified = here.filter((callback) => callback.verified);
  const { verifiers } = installation.secrets;
  const haveKeys = await Promise.all(verified.map(({ callbackid }) => verifiers.hasKey(accountId, callbackid)));
  if (haveKeys.includes(true)) return fine(check, 'The callback of this installation is verified.');
  if (verified[0])
    return warning(
      check,
      `The key of our callback ${verified[0].callbackid} is not in ${installation.settings.secrets}, so what comes of it is refused.`,
      'If there are earlier secrets, stop the daemon and put them back; otherwise `vendor-mirror serve` gets a new key by itself.',
    );
  const [unverified] = here;
  if (unverified) return await unverifiedCheckup(installation, accountId, unverified);
  const isRunning = await isDaemonThere(context, installation.settings);
  const [elsewhere] = own;
  return undelivered(elsewhere ? leadsElsewhere(elsewhere, publicUrl, isRunning) : notRegistered(isRunning));
}

function undelivered({ message, remedy }: Undelivered): Checkup {
  return warning(check, message, remedy);
}

async function unverifiedCheckup({ secrets }: Installation, id: string, { callbackid }: Callback): Promise<Checkup> {
  const codes = await secrets.verifiers.candidates(id, callbackid);
  if (codes.length === 0) return undelivered(notVerified(callbackid, id));
  return warning(
    check,
    `Our callback ${callbackid} is not verified, so nothing is delivered: a code came for it, and the service has not accepted it yet.`,
    `A running daemon sends it back by itself. If this lasts, \`vendor-mirror callbacks resend ${callbackid} --account ${id}\` asks for a code; the same one again is taken too.`,
  );
}

/** Says which callbacks lead to this installation and are not its own. */
async function unknownCallbacksCheckup(
  installation: Installation,
  accountId: string,
  listed: readonly Callback[],
): Promise<Checkup | undefined> {
  const { publicUrl } = installation.settings.listener;
  if (publicUrl === null) return undefined;
  const isOurs = await isOwn(installation, accountId);
  const ids = listed
    .filter((callback) => !isOurs(callback) && isBelow(callback.uri, publicUrl, accountId))
    .map(({ callbackid }) => callbackid);
  if (ids.length === 0) return undefined;
  return warning('unknown callbacks', unknownCallbacksText(ids), unknownCallbacksRemedy(ids, accountId));
}

/** Says where deliveries name what they are about in a way that costs a sweep each. */
async function callbackIdCheckup({ mirror }: Installation, accountId: string): Promise<Checkup | undefined> {
  const named = await mirror.sweepRequests.callbackIds(accountId);
  return (
    named &&
    warning(
      'deliveries',
      `The object_id of ${named.deliveries} deliveries was the id of one of our callbacks, the last at ${named.last} UTC: their changes are found by a sweep, not at once.`,
      'Nothing to do: such deliveries request a sweep, at most one a minute. If the service sends the id of the callback instead of the id of the vendor, ask it to send that.',
    )
  );
}
