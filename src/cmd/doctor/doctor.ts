/** `doctor`: checks everything that must be right, one thing after the other. */
import type { RetryLimits } from '../../domain/retry/request-policy.ts';
import type { Settings } from '../../settings/parse.ts';
import { asMirrorError, type ExitStatus } from '../../domain/errors.ts';
import { acceptService } from './accept-service.ts';
import { fine, problem, warning, type Checkup } from './checkup.ts';
import type { Call, CommandHandler } from '../process/command.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { fileCheckups } from './doctor-files.ts';
import { listenerCheckups } from './doctor-listener.ts';
import { mirrorCheckups, pausedCheckup } from './doctor-mirror.ts';
import { serviceCheckups } from './doctor-service.ts';
import { withSettings } from '../process/settings-option.ts';
import { print, printJson } from '../terminal/print.ts';
import { paragraph } from '../terminal/paragraphs.ts';
import { visible } from '../terminal/plain-text.ts';
import type { PathTokens } from '../../webhook/receive/account-of-path.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { withInstallation } from '../setup/with-installation.ts';
import { highestExit } from '../process/highest-exit.ts';

interface Result extends Checkup {
  /** Null if it is about the installation as a whole. */
  readonly account: string | null;
}

/** Failed requests are tried again soon or not at all. The service may ask for a wait of up to half a minute. */
const retryLimits: RetryLimits = { attempts: 3, firstWait: 500, longestWait: 30_000, totalWait: 30_000 };

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
    if (!options.json) print(context, await lineOf(context, { ...checkup, message, remedy }, account));
  };
  const settings = loadSettings(call);
  await report(
    fine(
      'settings',
      `The settings name ${settings.accounts.length === 1 ? 'one account' : `${settings.accounts.length} accounts`}.`,
    ),
  );
  if (options.acceptService)
    await report(
      await withInstallation(call, settings, (installation) => acceptService(context, installation, options.yes), {
        retryLimits,
        anyService: true,
      }),
    );
  await checkAll(call, settings, report);
  const status = highestExit(results.map(({ exit }) => exit));
  if (options.json) printDocument(call, results, status);
  return status;
};

async function checkAll(call: Call, settings: Settings, report: Report): Promise<void> {
  const { context } = call;
  let isExplained = false;
  let isOlder = false;
  for await (const checkup of fileCheckups(context, settings)) {
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
        for (const account of installation.accounts) {
          const paused = await pausedCheckup(context, settings, account);
          if (paused) {
            await report(paused, account);
            continue;
          }
          for await (const checkup of serviceCheckups(context, installation, account)) await report(checkup, account);
          for (const checkup of await mirrorCheckups(context, settings, account)) await report(checkup, account);
        }
      },
      { retryLimits },
    );
  } catch (error) {
    // Files that cannot be used cannot be opened either, and that was reported.
    if (!isExplained) await report(problem('opening', asMirrorError(error)));
  }
  for await (const checkup of listenerCheckups(context, settings, tokens)) await report(checkup);
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
