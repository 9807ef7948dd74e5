/**
 * `doctor`: checks everything that must be right, one thing after the other.
 *
 * It writes nothing to the service, and a warning does not make it fail. Of many accounts all are checked, and each thing that is not in order is
 * reported once, with the accounts behind it.
 */
import type { Installation, ServedAccount } from '../app/installation.ts';
import { asMirrorError, MirrorError, type ExitStatus } from '../domain/errors.ts';
import type { VendorRow } from '../domain/reading.ts';
import type { RetryLimits } from '../domain/retry.ts';
import { counted } from '../domain/size.ts';
import { manyAccounts, whoseText, withoutParticulars } from '../health/causes.ts';
import type { Settings } from '../settings/parse.ts';
import type { VendorTraits } from '../store/vendors.ts';
import type { PathTokens } from '../webhook/address.ts';
import { fine, problem, warning, type Checkup, settingsCheckups } from './doctor-checkup.ts';
import { listenerCheckups } from './doctor-listener.ts';
import { checkOf, storeCheckups, knownBefore, mirrorCheckups } from './doctor-mirror.ts';
import { clockCheck, serviceCheckups } from './doctor-service.ts';
import { loadSettings } from './load-settings.ts';
import { highestExit, withSettings, type Call, type CommandHandler } from './process/command.ts';
import type { ProcessContext } from './process/process-context.ts';
import { print, printJson, printNotice } from './terminal/print.ts';
import { isConfirmed } from './terminal/prompt.ts';
import { paragraph, visible } from './terminal/text.ts';
import { withInstallation } from './with-installation.ts';

interface Result extends Checkup {
  /** Null if it is about the installation as a whole. */
  readonly account: string | null;
}

/** Failed requests are tried again soon or not at all. The service may ask for a wait of up to half a minute. */
const retryLimits: RetryLimits = { attempts: 3, firstWait: 500, maxWait: 30_000, totalWait: 30_000 };

/** Prints the result of a check, or keeps it for the JSON document. */
type Report = (checkup: Checkup, account?: string | null) => Promise<void>;

interface DoctorOptions {
  /** Whether to accept the service of the settings for this mirror. */
  readonly acceptService?: boolean;
  readonly yes?: boolean;
}

export const doctor: CommandHandler<DoctorOptions> = async (call) => {
  const { context, options } = call;
  const results: Result[] = [];
  const report: Report = async (checkup, account = null) => {
    const remedy = checkup.remedy === null ? null : withSettings(context, checkup.remedy);
    const message = withSettings(context, checkup.message);
    results.push({ account, ...checkup, message, remedy });
    // Of many accounts, only what is said of all of them with the first is printed at once.
    if (!options.json && (account === null || !isMany || account === settings.accounts[0]))
      print(context, await lineOf(context, { ...checkup, message, remedy }, account));
  };
  const settings = await loadSettings(call);
  const isMany = settings.accounts.length > manyAccounts;
  for (const checkup of settingsCheckups(settings)) await report(checkup);
  if (options.acceptService)
    await report(
      await withInstallation(call, settings, (installation) => acceptService(context, installation, options.yes), {
        retryLimits,
        anyService: true,
      }),
    );
  await checkAll(call, settings, report, async () => {
    if (isMany && !options.json) await printTogether(context, results, settings.accounts);
  });
  const status = highestExit(results.map(({ exit }) => exit));
  if (options.json) printDocument(call, results, status);
  return status;
};

/** @param onAccounts is called when all accounts are checked */
async function checkAll(
  call: Call,
  settings: Settings,
  report: Report,
  onAccounts: () => Promise<void>,
): Promise<void> {
  const { context } = call;
  let isExplained = false;
  let isOlder = false;
  for await (const checkup of storeCheckups(context, settings)) {
    await report(checkup);
    isOlder ||= checkup.code === 'database_older';
    isExplained ||= checkup.result === 'problem' && (checkup.check === 'database' || checkup.check === 'secrets');
  }
  if (isOlder) {
    // To open it for more than reading would migrate it.
    await report(warning('accounts', 'Not checked, because the database is of an older version.', checkAgain));
    for await (const checkup of listenerCheckups(context, settings, undefined)) await report(checkup);
    return;
  }
  let tokens: PathTokens | undefined;
  try {
    await withInstallation(
      call,
      settings,
      async (installation) => {
        tokens = await installation.secrets.verifiers.pathTokens(settings.namedAccounts);
        let noticed = context.clock.monotonic();
        for (const [index, account] of installation.accounts.entries()) {
          if (context.clock.monotonic() - noticed >= noticeEvery) {
            noticed = context.clock.monotonic();
            const all = counted(installation.accounts.length, 'account');
            printNotice(context, `${index.toLocaleString('en')} of ${all} are checked.`);
          }
          const { paused, isClockWrong } = await knownBefore(context, settings, account);
          if (paused) {
            await report(paused, account);
            continue;
          }
          const asked = new Map<string, Checkup['result']>();
          for await (const checkup of serviceCheckups(context, installation, account)) {
            asked.set(checkup.check, checkup.result);
            // What the mirror says of the clock is said below.
            if (isClockWrong && checkup.check === clockCheck && checkup.result !== 'ok') continue;
            await report(checkup, account);
          }
          const isReached = asked.get(checkOf.access_refused) === 'ok';
          const areCallbacksKnown =
            isReached && settings.listener.publicUrl !== null && asked.get(checkOf.callback_unverified) !== 'problem';
          const judged = await mirrorCheckups(context, settings, account, { isReached, areCallbacksKnown });
          for (const checkup of judged) await report(checkup, account);
        }
        await onAccounts();
      },
      { retryLimits, looksOnly: true },
    );
  } catch (error) {
    // Files that cannot be used cannot be opened either, and that was reported.
    if (!isExplained) await report(problem('opening', asMirrorError(error)));
  }
  for await (const checkup of listenerCheckups(context, settings, tokens)) await report(checkup);
}

/** How often it is said how far the checks have come, in milliseconds: with many accounts they wait for the rate of requests. */
const noticeEvery = 10_000;

/** What was not printed of many accounts: what is wrong, each with the accounts behind it, and how many are in order. */
async function printTogether(
  context: ProcessContext,
  results: readonly Result[],
  accounts: readonly string[],
): Promise<void> {
  const groups = new Map<string, { readonly first: Result; readonly of: string[]; isAlike: boolean }>();
  const troubled = new Set<string>();
  for (const result of results) {
    const { account, check, message, remedy } = result;
    if (account === null || result.result === 'ok') continue;
    troubled.add(account);
    const key = [check, result.result, withoutParticulars(`${message} ${remedy}`, account)].join('\n');
    const group = groups.get(key) ?? { first: result, of: [], isAlike: true };
    groups.set(key, group);
    group.of.push(account);
    group.isAlike &&= message === group.first.message && remedy === group.first.remedy;
  }
  for (const { first, of, isAlike } of groups.values())
    // What the first account alone has was printed.
    if (of.length > 1 || first.account !== accounts[0])
      print(context, await lineOf(context, first, whoseText({ accounts: of, isAlike: isAlike || of.length === 1 })));
  const fineOnes = accounts.length - troubled.size;
  print(
    context,
    await lineOf(
      context,
      fine(
        'accounts',
        `${counted(accounts.length, 'account')} were checked, and ${fineOnes.toLocaleString('en')} of them are in order.`,
      ),
      null,
    ),
  );
}

const checkAgain = 'Once it is migrated, run `vendor-mirror doctor` again.';

function lineOf(
  context: ProcessContext,
  { check, result, message, remedy }: Checkup,
  account: string | null,
): Promise<string> {
  const about = account === null ? check : `${account} ${check}`;
  const words = remedy === null ? message : `${message} ${remedy}`;
  return paragraph(context, `${result.padEnd(7)}  `, `${about}: ${words.split('\n').map(visible).join(' ')}`);
}

function printDocument({ context }: Call, results: readonly Result[], status: ExitStatus): void {
  printJson(context, {
    ok: status === 0,
    checks: results.map(({ account, check, result, message, remedy }) => ({ account, check, result, message, remedy })),
  });
}

/** How the vendors of a sample stand to those of the mirror. */
interface Comparison {
  /** The same number, and created at the same time. */
  readonly alike: number;
  /** The same number, but a different vendor. */
  readonly others: number;
  /** Not in the mirror. */
  readonly unknown: number;
}

/**
 * Compares the first page of each account with the mirror, asks, and makes the mirror belong to the service.
 * @throws MirrorError of the service; `usage` if there is no terminal to ask on.
 */
async function acceptService(
  context: ProcessContext,
  installation: Installation,
  yes: boolean | undefined,
): Promise<Checkup> {
  const check = 'service';
  const { mirror, serviceName } = installation;
  const { service: known } = await mirror.identity();
  if (known === null || known === serviceName) return fine(check, `The mirror already belongs to ${serviceName}.`);
  const compared = await compareAll(installation, context.interrupted);
  const facts = `The mirror belongs to ${known}. At ${serviceName}, of ${total(compared)} vendors ${compared.alike} are the same, ${compared.others} are different ones with the same number, ${compared.unknown} are not in the mirror.`;
  const accepted =
    yes && !isLikely(compared) ? false : await isConfirmed(context, `${facts} Is it the same service?`, yes);
  if (!accepted)
    return problem(check, new MirrorError('other_service', `${facts} It was not accepted as the same service.`));
  await mirror.acceptService(serviceName);
  return fine(check, `${facts} From now on the mirror belongs to ${serviceName}.`);
}

function total({ alike, others, unknown }: Comparison): number {
  return alike + others + unknown;
}

/** Whether it is clearly the same service: most of the sample is the same, and almost none is a different vendor. */
function isLikely(compared: Comparison): boolean {
  return compared.alike > total(compared) / 2 && compared.others * 20 <= compared.alike;
}

async function compareAll(installation: Installation, signal: AbortSignal): Promise<Comparison> {
  const sum = { alike: 0, others: 0, unknown: 0 };
  for (const id of installation.accounts) {
    const part = await compare(installation, installation.account(id), signal);
    sum.alike += part.alike;
    sum.others += part.others;
    sum.unknown += part.unknown;
  }
  return sum;
}

async function compare(
  { mirror }: Installation,
  { accountId, client }: ServedAccount,
  signal: AbortSignal,
): Promise<Comparison> {
  const { rows } = await client.vendors.page(1, { signal });
  const traits = await mirror.vendors.traits(
    accountId,
    rows.map(({ vendorid }) => vendorid),
  );
  const known = new Map(traits.map((one) => [one.vendorid, one]));
  const found = rows.flatMap((row) => {
    const held = known.get(row.vendorid);
    return held ? [isSame(row, held)] : [];
  });
  const alike = found.filter(Boolean).length;
  return { alike, others: found.length - alike, unknown: rows.length - found.length };
}

/** A vendor keeps the time at which it was created; where none is told, its name has to do. */
function isSame(row: VendorRow, held: VendorTraits): boolean {
  const { created_at, vendor_name } = row.vendor();
  if (created_at && held.created_at) return created_at === held.created_at;
  return vendor_name === held.vendor_name;
}
