/** `doctor` on one account of the service: whether it gives access, and behaves as the mirror needs it. */
import { counted } from '../terminal/counted.ts';
import { asMirrorError, MirrorError, type ErrorCode } from '../../domain/errors.ts';
import type { Installation, ServedAccount } from '../../app/installation.ts';
import type { VendorPage } from '../../domain/reading.ts';
import { fine, problem, warning, type Checkup } from './checkup.ts';
import { callbackCheckup, callbackIdCheckup } from './doctor-callbacks.ts';
import { certificateCheckup } from './doctor-certificates.ts';
import { traitCheckups } from './doctor-traits.ts';
import { accessRemedy } from './remedies.ts';
import type { ProcessContext } from '../process/process-context.ts';

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
    const refusal = asMirrorError(error);
    const { message, exit } = refusal;
    yield problem('access', { message, exit, hint: accessRemedy(refusal, installation.settings, accountId) });
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
  yield await attempt('gateways', () => gateways(account, signal));
  yield await attempt('callbacks', () => callbackCheckup(installation, account, signal));
  const objects = await callbackIdCheckup(installation, accountId);
  if (objects) yield objects;
  if (isFirst) yield* traitCheckups(account, first, signal);
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

function is({ code }: MirrorError, ...codes: readonly ErrorCode[]): boolean {
  return codes.includes(code);
}
