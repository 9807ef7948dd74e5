/** `verify`: the source walked, some vendors read by id, and compared with the mirror, field by field; no vendor is written. */
import { exitStatus, type ExitStatus } from '../domain/errors.ts';
import { counted } from '../domain/size.ts';
import { manyAccounts, together } from '../health/causes.ts';
import { whatIsNotEqual, type VendorDifference, type VendorInFlight, type VerifyReport } from '../sync/compare.ts';
import { loadSettings, withoutPaused } from './load-settings.ts';
import { highestExit, type CommandHandler } from './process/command.ts';
import type { ProcessContext } from './process/process-context.ts';
import { errorReport, print, printError, printJson } from './terminal/print.ts';
import { accountOf, eachWithVerbose, isQuiet, progressOf } from './terminal/progress.ts';
import { printTable, table } from './terminal/table.ts';
import { heading } from './terminal/text.ts';
import { withInstallation } from './with-installation.ts';

interface AccountVerify extends VerifyReport {
  readonly account: string;
}

interface VerifyOptions {
  /** Print what was compared also where no terminal is. */
  readonly verbose?: boolean;
  /** Read all vendors by id. */
  readonly full?: boolean;
}

export const verify: CommandHandler<VerifyOptions> = async (call) => {
  const { context, options } = call;
  const signal = context.interrupted;
  const quiet = isQuiet(context, options);
  const settings = withoutPaused(context, await loadSettings(call));
  const reports = await withInstallation(
    call,
    settings,
    async (installation) => {
      const ended: AccountVerify[] = [];
      for (const account of installation.accounts) {
        const progress = progressOf(accountOf(account, installation.accounts), context, quiet);
        const onProgress = progress.show.bind(progress);
        const report = await installation.verify(account, {
          trigger: 'command',
          signal,
          onProgress,
          isFull: options.full === true,
        });
        progress.end();
        ended.push({ account, ...report });
      }
      return ended;
    },
    { looksOnly: true },
  );
  if (options.json) printDocument(context, reports);
  else if (!quiet || reports.some((report) => statusOf(report) !== exitStatus.done))
    await printText(context, reports, options.verbose === true);
  return highestExit(reports.map(statusOf));
};

function statusOf({ outcome, error }: AccountVerify): ExitStatus {
  return outcome === 'equal' ? exitStatus.done : (error?.exit ?? exitStatus.incomplete);
}

function printDocument(context: ProcessContext, reports: readonly AccountVerify[]): void {
  printJson(context, {
    ok: reports.every(({ outcome }) => outcome === 'equal'),
    accounts: reports.map(
      ({ account, outcome, sourceTotal, mirrorTotal, differences, inFlight, notCompared, error }) => ({
        account,
        outcome,
        source_total: sourceTotal,
        mirror_total: mirrorTotal,
        differences,
        in_flight: inFlight,
        not_compared: notCompared ?? null,
        ...(error && { error: errorReport(context, error) }),
      }),
    ),
  });
}

/** More differences than these are counted, not shown. */
const maxShown = 20;

interface Line {
  readonly account: string;
  readonly outcome: string;
  readonly inSource: number | null;
  readonly inMirror: number | null;
  readonly differ: number | null;
  readonly inFlight: number | null;
}

function lineOf({ account, outcome, error, sourceTotal, mirrorTotal, differences, inFlight }: AccountVerify): Line {
  const compared = error
    ? { inMirror: null, differ: null, inFlight: null }
    : { inMirror: mirrorTotal, differ: differences.length, inFlight: inFlight.length };
  return { account, outcome, inSource: sourceTotal, ...compared };
}

function sumOf(lines: readonly Line[]): Line {
  const add = (of: (line: Line) => number | null): number => lines.reduce((sum, line) => sum + (of(line) ?? 0), 0);
  const equal = add(({ outcome }) => (outcome === 'equal' ? 1 : 0));
  return {
    account: counted(lines.length, 'account'),
    outcome: equal === lines.length ? 'equal' : `${equal.toLocaleString('en')} equal`,
    inSource: add(({ inSource }) => inSource),
    inMirror: add(({ inMirror }) => inMirror),
    differ: add(({ differ }) => differ),
    inFlight: add(({ inFlight }) => inFlight),
  };
}

/** A line for each account, or of many for those that are not equal and for all together; and what is not equal. */
async function printText(
  context: ProcessContext,
  reports: readonly AccountVerify[],
  isVerbose: boolean,
): Promise<void> {
  const isMany = reports.length > manyAccounts;
  const isShort = isMany && !isVerbose;
  const shown = isShort ? reports.filter(({ outcome }) => outcome !== 'equal') : reports;
  await printTable(
    context,
    [
      { title: 'account', cell: ({ account }) => account },
      { title: 'outcome', cell: ({ outcome }) => outcome },
      { title: 'in source', right: true, dropOrder: 1, cell: ({ inSource }) => inSource },
      { title: 'in mirror', right: true, dropOrder: 2, cell: ({ inMirror }) => inMirror },
      { title: 'differ', right: true, cell: ({ differ }) => differ },
      { title: 'in flight', right: true, cell: ({ inFlight }) => inFlight },
    ],
    [...shown.map(lineOf), ...(isMany ? [sumOf(reports.map(lineOf))] : [])],
  );
  if (isShort) print(context, eachWithVerbose);
  for (const report of reports) {
    const { account, differences, inFlight } = report;
    const shown = [...differences, ...inFlight];
    if (shown.length > 0) print(context, `\n${await differencesText(context, account, shown)}`);
  }
  const errors = reports.flatMap((report) => {
    const error = report.error ?? whatIsNotEqual(report);
    return error ? [{ account: report.account, message: `${error.message} ${error.hint}`, error }] : [];
  });
  for (const { whose, first } of together(errors)) printError(context, first.error, whose);
}

const kinds: Readonly<Record<(VendorDifference | VendorInFlight)['kind'], string>> = {
  only_in_source: 'only in source',
  only_in_mirror: 'only in mirror',
  different: 'different',
  unreadable: 'could not be read',
  balance_only: 'balance moved since',
  in_flight: 'changed just now',
};

async function differencesText(
  context: ProcessContext,
  account: string,
  differences: readonly (VendorDifference | VendorInFlight)[],
): Promise<string> {
  const rows = await table(
    context,
    [
      { title: 'vendorid', right: true, cell: ({ vendorid }) => vendorid },
      { title: 'how', cell: ({ kind }) => kinds[kind] },
      { title: 'fields', cell: ({ fields }) => fields.join(', ') || null },
    ],
    differences.slice(0, maxShown),
  );
  const more = differences.length - maxShown;
  const rest = more > 0 ? [`… and ${more} more; --json lists all of them.`] : [];
  return [heading(context, `Account ${account}`), rows, ...rest].join('\n');
}
