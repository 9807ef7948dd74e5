/** `doctor` on one account of the service: whether it lets us in, and behaves as the mirror needs it. */
import { counted } from '../terminal/counted.ts';
import { asMirrorError, MirrorError, type ErrorCode } from '../../domain/errors.ts';
import type { Installation, ServedAccount } from '../../app/installation.ts';
import type { VendorPage } from '../../domain/reading.ts';
import { fine, problem, warning, type Checkup } from './checkup.ts';
import { accessRemedy } from './remedies.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { isOwn } from '../setup/registered-callback.ts';

/** Checks an account; where its list cannot be read, nothing further makes sense. */
export async function* serviceCheckups(
  context: ProcessContext,
  installation: Installation,
  accountId: string,
): AsyncGenerator<Checkup> {
  const account = installation.account(accountId);
  const signal = context.interrupted;
  let first: VendorPage;
  try {
    first = await account.client.vendors.page(1, { signal });
  } catch (error) {
    const refusal = asMirrorError(error);
    const { message, exit } = refusal;
    yield problem('access', { message, exit, hint: accessRemedy(refusal, installation.settings, accountId) });
    return;
  }
  const { total, pages, perPage } = first;
  const skew = first.servedAt === undefined ? undefined : context.clock.now() - first.servedAt;
  yield fine('access', `The token can read ${counted(total, 'vendor')}, on ${counted(pages, 'page')} of ${perPage}.`);
  yield clock(skew);
  yield await attempt('paging', () => paging(account, first, signal));
  yield await attempt('filters', () => filters(account, first, signal));
  yield await attempt('reads by number', () => readsByNumber(installation, account, first, signal));
  yield await attempt('gateways', () => gateways(account, signal));
  yield await attempt('callbacks', () => callbacks(installation, account, signal));
  const objects = await callbackIds(installation, accountId);
  if (objects) yield objects;
}

async function attempt(check: string, examine: () => Promise<Checkup>): Promise<Checkup> {
  try {
    return await examine();
  } catch (error) {
    return problem(check, asMirrorError(error));
  }
}

/** Clocks that differ by more than this mislead the ledger about what was announced when; in milliseconds. */
const muchSkew = 5_000;

function clock(skew: number | undefined): Checkup {
  const check = 'clock';
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

/** What the service makes of the parameters that nothing promises. */
async function filters({ client }: ServedAccount, first: VendorPage, signal: AbortSignal): Promise<Checkup> {
  const check = 'filters';
  const size = Math.max(1, Math.floor(first.rows.length / 2));
  const short = await client.vendors.page(1, { size, signal });
  const archived = await client.vendors.page(1, { visState: 2, signal });
  const states = archived.rows.map((row) => row.vendor().vis_state);
  const isHonoured = states.every((state) => state === 2) && archived.total !== first.total;
  const found = [
    short.rows.length <= size ? 'uses the requested page size' : `chooses its own page size (${short.rows.length})`,
    isHonoured ? 'filters vendors by state' : 'ignores the filter by state',
    first.servedAt === undefined ? 'does not send its time' : 'sends its time',
  ];
  return fine(check, `The service ${new Intl.ListFormat('en').format(found)}.`);
}

async function readsByNumber(
  { settings }: Installation,
  { client }: ServedAccount,
  { rows: [row] }: VendorPage,
  signal: AbortSignal,
): Promise<Checkup> {
  const check = 'reads by number';
  const { readOne } = settings.service;
  if (readOne === 'sweep') return fine(check, 'Not used: service.readOne is sweep.');
  if (!row) return fine(check, 'There is no vendor to try it with.');
  try {
    await client.vendors.read(row.vendorid, { signal });
    return fine(check, `The service answers for vendor ${row.vendorid}.`);
  } catch (caught) {
    const error = asMirrorError(caught);
    if (!is(error, 'not_found', 'not_supported')) throw error;
    const { exit } = error;
    const message = `The service lists vendor ${row.vendorid}, but does not answer when it is read by number.`;
    if (readOne === 'get') return problem(check, { message, hint: 'Set service.readOne to auto or sweep.', exit });
    return warning(check, message, 'Nothing to do: vendors named by webhooks are read by a sweep.');
  }
}

async function gateways({ client }: ServedAccount, signal: AbortSignal): Promise<Checkup> {
  const check = 'gateways';
  try {
    const listed = await client.gateways.list({ signal });
    return fine(check, `The token can read ${counted(listed.length, 'gateway')}.`);
  } catch (caught) {
    const error = asMirrorError(caught);
    if (!is(error, 'access_denied')) throw error;
    return warning(check, error.message, 'To mirror gateways, the token needs the scope user:online_payments:read.');
  }
}

async function callbacks(
  installation: Installation,
  { id, client }: ServedAccount,
  signal: AbortSignal,
): Promise<Checkup> {
  const check = 'callbacks';
  const listed = await client.callbacks.list({}, { signal });
  const own = listed.filter(await isOwn(installation, id));
  if (installation.settings.listener.publicUrl === null)
    return fine(check, `The token can read ${counted(listed.length, 'callback')}.`);
  const [refusal] = await installation.mirror.callbacks.refusals(id);
  if (refusal) {
    return warning(
      check,
      `${refusal.event} could not be registered: ${refusal.message}`,
      'Give the token the scope of that event, or remove it from listener.events; a running daemon tries again with each reconciliation.',
    );
  }
  if (own.some(({ verified }) => verified)) return fine(check, 'The callback of this installation is verified.');
  const message =
    own.length === 0
      ? 'No callback of this installation is registered.'
      : 'The callback of this installation is not verified.';
  return warning(check, message, '`vendor-mirror serve` registers and verifies it automatically.');
}

/** Says where deliveries name what they are about in a way that costs a sweep each. */
async function callbackIds({ mirror }: Installation, accountId: string): Promise<Checkup | undefined> {
  const named = await mirror.sweepRequests.callbackIds(accountId);
  return (
    named &&
    warning(
      'deliveries',
      `The object_id of ${named.deliveries} deliveries was the id of a callback of ours, the last at ${named.last} UTC: their changes are found by a sweep, not at once.`,
      'Nothing to do: such deliveries request a sweep, at most one a minute. If the service sends the id of the callback instead of the id of the vendor, ask it to send that.',
    )
  );
}

function is({ code }: MirrorError, ...codes: readonly ErrorCode[]): boolean {
  return codes.includes(code);
}
