/** `vendors create|edit|delete|archive|restore`: written to the service, and its answer applied to the mirror at once. */
import type { VendorsApi } from '../api/vendors.ts';
import { exitStatus, type ExitStatus } from '../errors.ts';
import type { VendorReading } from '../reading.ts';
import { vendorDetails } from '../store/vendor-detail.ts';
import { applyAnswer } from '../sync/write-one.ts';
import { isConfirmed } from './asking.ts';
import type { Call, Run } from './command.ts';
import { askMirror } from './mirror.ts';
import { oneAccount } from './one-account.ts';
import { remark } from './say.ts';
import { loadSettings } from './settings.ts';
import { givenFields, newVendor, type FieldOptions } from './vendor-fields.ts';
import { printDetails } from './vendors-show.ts';
import { withInstallation } from './with-installation.ts';

interface DeleteOptions {
  readonly yes?: boolean;
}

export const vendorsCreate: Run<FieldOptions> = async (call) => {
  const fields = newVendor(await givenFields(call.edge, call.options));
  return write(call, (vendors, options) => vendors.create(fields, options));
};

export const vendorsEdit: Run<FieldOptions> = async (call) => {
  const fields = await givenFields(call.edge, call.options);
  return write(call, (vendors, options) => vendors.edit(idOf(call), fields, options));
};

export const vendorsDelete: Run<DeleteOptions> = async (call) => {
  const { edge, options } = call;
  const isAgreed = await isConfirmed(edge, () => deleteQuestion(call), options.yes);
  if (isAgreed) return write(call, (vendors, stoppable) => vendors.delete(idOf(call), stoppable));
  remark(edge, 'Nothing was done.');
  return exitStatus.notWhole;
};

export const vendorsArchive: Run = (call) => write(call, (vendors, options) => vendors.archive(idOf(call), options));

export const vendorsRestore: Run = (call) => write(call, (vendors, options) => vendors.restore(idOf(call), options));

function idOf({ args }: Pick<Call, 'args'>): number {
  return Number(args[0]);
}

/** Names the vendor as the mirror knows it: a number is soon mistyped. */
async function deleteQuestion(call: Call): Promise<string> {
  const settings = loadSettings(call);
  const account = oneAccount(settings);
  const found = await askMirror(call.edge, settings, (sqlite) => vendorDetails(sqlite, idOf(call), account));
  const name = found?.[0]?.vendor.vendor_name ?? 'not in the mirror';
  return `Delete vendor ${idOf(call)} (${name}) of ${account}?`;
}

async function write(
  call: Call,
  work: (vendors: VendorsApi, options: { signal: AbortSignal }) => Promise<VendorReading>,
): Promise<ExitStatus> {
  const settings = loadSettings(call);
  const account = oneAccount(settings);
  const vendorid = await withInstallation(call, settings, async (installation) => {
    const { client, engine } = installation.account(account);
    const answer = await work(client.vendors, { signal: call.edge.interrupted });
    const { kind } = await applyAnswer(engine, answer);
    if (kind === 'stale') remark(call.edge, 'A newer reading was faster; the vendor is marked to be read again.');
    return answer.row.vendorid;
  });
  const found = await askMirror(call.edge, settings, (sqlite) => vendorDetails(sqlite, vendorid, account));
  await printDetails(call, found ?? []);
  return exitStatus.done;
}
