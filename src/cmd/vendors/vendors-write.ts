/** `vendors create|edit|delete|archive|restore`: written to the service, and its answer applied to the mirror at once. */
import { creation, edit as editRequest, type Request, type VendorEdit } from '../../api/requests.ts';
import { exitStatus, MirrorError, type ExitStatus } from '../../domain/errors.ts';
import { vendorDetails } from '../../store/reports/vendor-detail.ts';
import type { SyncAccount } from '../../sync/account/sync-account.ts';
import type { WriteReport } from '../../sync/write/answer.ts';
import { createVendor } from '../../sync/write/create.ts';
import { editVendor } from '../../sync/write/edit.ts';
import type { WriteOptions } from '../../sync/write/write-options.ts';
import { isConfirmed } from '../terminal/prompt.ts';
import type { Call, CommandHandler } from '../process/command.ts';
import { showRequest, type DryRunOption } from '../setup/dry-run.ts';
import { queryMirror } from '../setup/open-mirror.ts';
import { oneAccount } from '../setup/one-account.ts';
import { printError, printNotice } from '../terminal/print.ts';
import type { Settings } from '../../settings/parse.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { givenFields, newVendor, type FieldOptions } from './vendor-options.ts';
import { printDetails } from './vendors-show.ts';
import { withInstallation } from '../setup/with-installation.ts';

const list = new Intl.ListFormat('en');

interface WriteFlags extends DryRunOption {
  readonly again?: boolean;
}

type SetOptions = FieldOptions & WriteFlags;

interface DeleteOptions extends WriteFlags {
  readonly yes?: boolean;
}

export const vendorsCreate: CommandHandler<SetOptions> = async (call) => {
  const settings = loadSettings(call);
  const fields = newVendor(await givenFields(call.context, call.options, settings.vendors.exclude));
  return write(
    call,
    settings,
    (account) => creation(account, fields),
    (syncAccount, tell) => createVendor(syncAccount, fields, writeOptions(call, tell)),
  );
};

export const vendorsEdit: CommandHandler<SetOptions> = async (call) => {
  const settings = loadSettings(call);
  return edit(call, settings, await givenFields(call.context, call.options, settings.vendors.exclude));
};

export const vendorsDelete: CommandHandler<DeleteOptions> = async (call) => {
  const { context, options } = call;
  const settings = loadSettings(call);
  const isAgreed = options.dryRun ?? (await isConfirmed(context, () => deleteQuestion(call, settings), options.yes));
  if (isAgreed) return edit(call, settings, { vis_state: 1 });
  printNotice(context, 'Nothing was done.');
  return exitStatus.incomplete;
};

export const vendorsArchive: CommandHandler<WriteFlags> = (call) => edit(call, loadSettings(call), { vis_state: 2 });

export const vendorsRestore: CommandHandler<WriteFlags> = (call) => edit(call, loadSettings(call), { vis_state: 0 });

function edit(call: Call<WriteFlags>, settings: Settings, fields: VendorEdit): Promise<ExitStatus> {
  const vendorid = idOf(call);
  return write(
    call,
    settings,
    (account) => editRequest(account, vendorid, fields),
    (syncAccount, tell) => editVendor(syncAccount, vendorid, fields, writeOptions(call, tell)),
  );
}

function writeOptions({ context, options }: Call<WriteFlags>, tell: WriteOptions['tell']): WriteOptions {
  const { SUDO_USER, USER, LOGNAME, USERNAME } = context.env;
  const by = SUDO_USER ?? USER ?? LOGNAME ?? USERNAME ?? null;
  return { signal: context.interrupted, again: options.again ?? false, by, tell };
}

function idOf({ args }: Pick<Call, 'args'>): number {
  return Number(args[0]);
}

/** Names the vendor as the mirror knows it: a number is soon mistyped. */
async function deleteQuestion(call: Call, settings: Settings): Promise<string> {
  const account = oneAccount(settings);
  const found = await queryMirror(call.context, settings, (snapshot) => vendorDetails(snapshot, idOf(call), account));
  const name = found?.[0]?.vendor.vendor_name ?? 'not in the mirror';
  return `Delete vendor ${idOf(call)} (${name}) of ${account}?`;
}

/** Sends the write and shows the vendor afterwards; with `--dry-run`, only the request. */
async function write(
  call: Call<WriteFlags>,
  settings: Settings,
  requestOf: (account: string) => Request,
  work: (syncAccount: SyncAccount, tell: WriteOptions['tell']) => Promise<void>,
): Promise<ExitStatus> {
  const account = oneAccount(settings);
  if (call.options.dryRun) return showRequest(call, settings, requestOf(account));
  let exit: ExitStatus = exitStatus.done;
  const tell = async (report: WriteReport): Promise<void> => {
    exit = await showReport(call, settings, account, report);
  };
  await withInstallation(call, settings, (installation) => work(installation.account(account), tell));
  return exit;
}

async function showReport(
  call: Call<WriteFlags>,
  settings: Settings,
  account: string,
  { vendorid, notTaken, notes }: WriteReport,
): Promise<ExitStatus> {
  const { context } = call;
  for (const note of notes) printNotice(context, note);
  const found = await queryMirror(context, settings, (snapshot) => vendorDetails(snapshot, vendorid, account));
  const error = notTaken.length > 0 ? refusedFields(vendorid, notTaken) : undefined;
  await printDetails(call, found ?? [], error);
  if (!error) return exitStatus.done;
  printError(context, error);
  return error.exit;
}

function refusedFields(vendorid: number, fields: readonly string[]): MirrorError {
  return new MirrorError(
    'not_taken',
    `The service did not accept ${list.format(fields)}: it shows vendor ${vendorid} with other values.`,
  );
}
