/** `doctor`: everything that must be right, looked at in turn. */
import type { RetryLimits } from '../../api/http/retry.ts';
import type { Settings } from '../../settings/parse.ts';
import { asMirrorError, type ExitStatus } from '../../domain/errors.ts';
import { acceptService } from './accept-service.ts';
import { fine, problem, type Checkup } from './checkup.ts';
import type { Call, Run } from '../process/command.ts';
import { fileCheckups } from './doctor-files.ts';
import { listenerCheckups } from './doctor-listener.ts';
import { serviceCheckups } from './doctor-service.ts';
import { withSettings } from '../process/settings-option.ts';
import { print, printJson } from '../terminal/print.ts';
import { visible } from '../terminal/plain-text.ts';
import type { PathTokens } from '../../webhook/receive/account-of-path.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { withInstallation } from '../setup/with-installation.ts';
import { highestExit } from '../process/highest-exit.ts';

interface Told extends Checkup {
  /** Null where it is about the installation as a whole. */
  readonly account: string | null;
}

/** What fails is tried again soon or not at all; a wait that the service asks for is no failure, up to half a minute. */
const retryLimits: RetryLimits = { attempts: 3, firstWait: 500, longestWait: 30_000, totalWait: 30_000 };

interface DoctorOptions {
  /** Whether the mirror shall belong to the service of the settings. */
  readonly acceptService?: boolean;
  readonly yes?: boolean;
}

export const doctor: Run<DoctorOptions> = async (call) => {
  const { context, options } = call;
  const told: Told[] = [];
  const tell = (checkup: Checkup, account: string | null = null): void => {
    const remedy = checkup.remedy === null ? null : withSettings(context, checkup.remedy);
    const message = withSettings(context, checkup.message);
    told.push({ account, ...checkup, message, remedy });
    if (!options.json) print(context, lineOf({ ...checkup, message, remedy }, account));
  };
  const settings = loadSettings(call);
  tell(
    fine(
      'settings',
      `They name ${settings.accounts.length === 1 ? 'one account' : `${settings.accounts.length} accounts`}.`,
    ),
  );
  if (options.acceptService)
    tell(
      await withInstallation(call, settings, (installation) => acceptService(context, installation, options.yes), {
        retryLimits,
        anyService: true,
      }),
    );
  await checkAll(call, settings, tell);
  const status = highestExit(told.map(({ exit }) => exit));
  if (options.json) printDocument(call, told, status);
  return status;
};

async function checkAll(
  call: Call,
  settings: Settings,
  tell: (checkup: Checkup, account?: string) => void,
): Promise<void> {
  for await (const checkup of fileCheckups(call.context, settings)) tell(checkup);
  let tokens: PathTokens | undefined;
  try {
    await withInstallation(
      call,
      settings,
      async (installation) => {
        tokens = await installation.secrets.verifiers.pathTokens(settings.namedAccounts);
        for (const account of installation.accounts)
          for await (const checkup of serviceCheckups(call.context, installation, account)) tell(checkup, account);
      },
      { retryLimits },
    );
  } catch (error) {
    tell(problem('opening', asMirrorError(error)));
  }
  for await (const checkup of listenerCheckups(call.context, settings, tokens)) tell(checkup);
}

function lineOf({ check, result, message, remedy }: Checkup, account: string | null): string {
  const about = account === null ? check : `${account} ${check}`;
  const words = remedy === null ? message : `${message} ${remedy}`;
  return `${result.padEnd(7)}  ${about}: ${words.split('\n').map(visible).join(' ')}`;
}

function printDocument({ context }: Call, told: readonly Told[], status: ExitStatus): void {
  printJson(context, {
    ok: status === 0,
    checks: told.map(({ account, check, result, message, remedy }) => ({ account, check, result, message, remedy })),
  });
}
