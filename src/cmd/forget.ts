/** `forget`: fields, a vendor or an account go from the mirror and its history; nothing is asked of the service. */
import { join } from 'node:path';
import { exitStatus, MirrorError, type ExitStatus } from '../domain/errors.ts';
import { neededFields } from '../domain/vendor.ts';
import { counted } from '../domain/size.ts';
import { publishedFiles, publishedSchemas, type Settings } from '../settings/parse.ts';
import { existing, Forgetter, olderCopies } from '../store/forget.ts';
import { settingsFileOf } from '../store/files/own-files.ts';
import { accountsNotServed } from '../store/reports/known-accounts.ts';
import { vendorDetails } from '../store/reports/vendor-detail.ts';
import { loadSettings, oneAccount } from './load-settings.ts';
import { changeMirror, queryMirror } from './open-mirror.ts';
import type { Call, CommandHandler } from './process/command.ts';
import { answered, printJson, printNotice, printText } from './terminal/print.ts';
import { migrationProgress } from './terminal/progress.ts';
import { isConfirmed } from './terminal/prompt.ts';

interface ForgetFlags {
  readonly field?: readonly string[];
  readonly vendor?: number;
  readonly undo?: boolean;
  readonly yes?: boolean;
}

const list = new Intl.ListFormat('en');

export const forget: CommandHandler<ForgetFlags> = async (call) => {
  const { context, options } = call;
  const settings = await loadSettings(call);
  const { field, vendor, undo, yes } = options;
  if (!field && vendor === undefined) {
    if (options.account === undefined || undo)
      throw new MirrorError('usage', 'Name what to forget: --field NAME, --vendor N, or --account ID alone.');
    return forgetAccount(call, settings, options.account);
  }
  if (field) refuseFields(field, settings);
  const isThere = await queryMirror(context, settings, () => true);
  if (!isThere) return exitStatus.done;
  if (vendor !== undefined && undo) return readmit(call, settings, vendor);
  const question = (): Promise<string> =>
    field ? Promise.resolve(fieldQuestion(field, options.account)) : vendorQuestion(call, settings, vendor ?? 0);
  if (!(await isConfirmed(context, question, yes))) {
    printNotice(context, 'Nothing was done.');
    return exitStatus.incomplete;
  }
  return field ? forgetFields(call, settings, field) : forgetVendor(call, settings, vendor ?? 0);
};

/** @throws MirrorError `usage` for fields that must stay, and for those that the next sweep would bring back. */
function refuseFields(fields: readonly string[], { vendors: { exclude } }: Settings): void {
  const needed = fields.filter((field) => neededFields.some((name) => name === field));
  if (needed.length > 0)
    throw new MirrorError(
      'usage',
      `${list.format(needed)} cannot be forgotten: the mirror needs ${needed.length === 1 ? 'it' : 'them'} to stay correct.`,
    );
  const kept = fields.filter((field) => !exclude.includes(field));
  if (kept.length > 0)
    throw new MirrorError(
      'usage',
      `The next sweep would bring ${list.format(kept)} back: add ${kept.length === 1 ? 'it' : 'them'} to vendors.exclude in the settings first, which now names ${exclude.length > 0 ? list.format(exclude) : 'nothing'}.`,
    );
}

function fieldQuestion(fields: readonly string[], account: string | undefined): string {
  const whose = account === undefined ? 'all accounts' : `the account ${account}`;
  return `Remove ${list.format(fields)} from all vendors of ${whose} and from their history? This cannot be undone.`;
}

async function vendorQuestion(call: Call, settings: Settings, vendorid: number): Promise<string> {
  const account = oneAccount(settings);
  const found = await queryMirror(call.context, settings, (sqlite) => vendorDetails(sqlite, vendorid, account));
  const name = found?.[0]?.vendor.vendor_name ?? 'not in the mirror';
  return `Forget vendor ${vendorid} (${name}) of ${account}, with its history? This cannot be undone.`;
}

async function forgetFields(call: Call, settings: Settings, fields: readonly string[]): Promise<ExitStatus> {
  const { context, options } = call;
  const { vendors, versions } = await forgetting(call, settings, (mirror) => mirror.fields(fields, options.account));
  const copies = copiesOf(settings);
  if (options.json) printJson(context, { ok: true, fields, vendors, versions, copies });
  else {
    const held = `${counted(vendors, 'vendor')} and ${counted(versions, 'earlier version')}`;
    printText(context, `${list.format(fields)}: removed from ${held}, and ${overwritten(settings)}.`);
    noticeCopies(call, settings, copies);
  }
  return exitStatus.done;
}

async function forgetVendor(call: Call, settings: Settings, vendorid: number): Promise<ExitStatus> {
  const { context, options } = call;
  const account = oneAccount(settings);
  const isKnown = await forgetting(call, settings, (mirror) => mirror.vendor(account, vendorid));
  if (!isKnown) throw new MirrorError('unknown_vendor', `The mirror holds no vendor ${vendorid} of ${account}.`);
  const copies = copiesOf(settings);
  if (options.json) printJson(context, { ok: true, account, vendorid, copies });
  else {
    printText(context, `Vendor ${vendorid} of ${account} is forgotten, and ${overwritten(settings)}.`);
    printNotice(
      context,
      `The service still has it; no sweep and no webhook brings it back until \`vendor-mirror forget --undo --vendor ${vendorid} --account ${account}\`.`,
    );
    noticeCopies(call, settings, copies);
  }
  return exitStatus.done;
}

async function forgetAccount(call: Call<ForgetFlags>, settings: Settings, account: string): Promise<ExitStatus> {
  const { context, options } = call;
  refuseMirrored(settings, account);
  const served = { accounts: settings.namedAccounts, settingsFile: settingsFileOf(settings) };
  const left = await queryMirror(context, settings, (snapshot) => accountsNotServed(snapshot, served));
  if (!left) return exitStatus.done;
  if (!left.has(account))
    throw new MirrorError(
      'usage',
      `Another settings file of this mirror names ${account}: take it out of that one first.`,
    );
  const question = (): Promise<string> =>
    Promise.resolve(`Forget the account ${account}, with all its vendors and their history? This cannot be undone.`);
  if (!(await isConfirmed(context, question, options.yes))) {
    printNotice(context, 'Nothing was done.');
    return exitStatus.incomplete;
  }
  const { vendors, callbacks } = await forgetting(call, settings, (mirror) => mirror.account(account));
  const copies = copiesOf(settings);
  if (options.json) printJson(context, { ok: true, account, vendors, callbacks, copies });
  else {
    printText(context, `${account} is forgotten, with ${counted(vendors, 'vendor')}, and ${overwritten(settings)}.`);
    for (const callbackid of callbacks)
      printNotice(
        context,
        `Its callback ${callbackid} may still be registered; what the service sends there is refused.`,
      );
    noticeCopies(call, settings, copies);
  }
  return exitStatus.done;
}

/** @throws MirrorError `usage` for an account that is mirrored: the next sweep would bring it back. */
function refuseMirrored({ namedAccounts, accountsOfFile }: Settings, account: string): void {
  if (!namedAccounts.includes(account)) return;
  throw new MirrorError(
    'usage',
    accountsOfFile.some(({ id }) => id === account)
      ? `${account} is still mirrored: take it out of \`accounts\` in the settings first.`
      : `${account} is still mirrored: run \`vendor-mirror accounts remove ${account}\` first.`,
  );
}

async function readmit(call: Call, settings: Settings, vendorid: number): Promise<ExitStatus> {
  const account = oneAccount(settings);
  const wasForgotten = await changeMirror(call.context, settings, ({ vendors }) =>
    vendors.mirrorAgain(account, vendorid),
  );
  if (!wasForgotten)
    throw new MirrorError('unknown_vendor', `The mirror has not forgotten vendor ${vendorid} of ${account}.`);
  const text = `Vendor ${vendorid} of ${account} is read again by the daemon, or with the next sweep.`;
  return answered(call, { account, vendorid }, text);
}

async function forgetting<T>(
  { context }: Call,
  { database: path, postgres }: Settings,
  work: (mirror: Forgetter) => Promise<T>,
): Promise<T> {
  const { packageRoot, clock, random, interrupted } = context;
  const shared = { migrations: join(packageRoot, 'migrations'), clock, random };
  const mirror = postgres
    ? await Forgetter.openPostgres({ ...shared, store: postgres, interrupted })
    : await Forgetter.open({ ...shared, path, onMigration: migrationProgress(context) });
  try {
    return await work(mirror);
  } finally {
    await mirror.close();
  }
}

/** What may still have what was forgotten: files, and rows in PostgreSQL until the daemon has started. */
function copiesOf({ database, postgres, publish }: Settings): string[] {
  const files = publishedFiles(publish).map(({ path }) => path);
  const rows = publishedSchemas(publish).map(({ path }) => path);
  return [...(postgres ? existing(files) : olderCopies(database, files)), ...rows];
}

function overwritten({ postgres }: Settings): string {
  return postgres ? 'the tables were rewritten' : 'the file was overwritten';
}

function noticeCopies({ context }: Call, { postgres }: Settings, copies: readonly string[]): void {
  if (postgres)
    printNotice(
      context,
      'The journal of the server (WAL), its standbys and its backups have it until they are renewed.',
    );
  printNotice(context, 'Exports, backups, and what was sent to receivers and readers of changes still have it.');
  for (const copy of copies) printNotice(context, `It may still be in ${copy}.`);
}
