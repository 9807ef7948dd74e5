/** The first line of `status`: whether the mirror is correct, as of when, and how many things are to do. */
import { styleText } from 'node:util';
import { age } from '../../domain/age.ts';
import { parseInstant } from '../../domain/clock.ts';
import { lastInWords } from '../../domain/duration.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { mayStyle } from '../terminal/heading.ts';
import type { AccountStatus } from './account-status.ts';

export interface Verdict {
  readonly tone: 'green' | 'yellow' | 'red';
  readonly words: string;
}

export interface VerdictRules {
  /** Wall time, milliseconds since 1970. */
  readonly now: number;
  /** `admin.maxStaleness`, milliseconds. */
  readonly maxStaleness: number;
  /** Sentences that tell what to do; none if nothing is wrong. */
  readonly toDo: readonly string[];
  /** Accounts of the settings of which the mirror holds nothing. */
  readonly unknown: readonly string[];
}

/** Judges all accounts by the one that is worst off; of those that are paused, says so. */
export function verdictOf(all: readonly AccountStatus[], rules: VerdictRules): Verdict {
  const paused = all.filter(({ freshness }) => freshness.paused_since !== null);
  const reports = all.filter((report) => !paused.includes(report));
  if (paused.length === 0) return verdictOfServed(reports, rules);
  const which = paused.length === 1 ? `${paused[0]?.account} is paused` : `${paused.length} accounts are paused`;
  if (reports.length + rules.unknown.length === 0)
    return { tone: 'yellow', words: `${which}: nothing keeps the mirror fresh.` };
  const { tone, words } = verdictOfServed(reports, rules);
  return { tone, words: `${words.slice(0, -'.'.length)}; ${which}.` };
}

function verdictOfServed(reports: readonly AccountStatus[], rules: VerdictRules): Verdict {
  const { now, maxStaleness, toDo, unknown } = rules;
  const all = reports.length + unknown.length;
  const unfinished = reports.filter(({ freshness }) => freshness.last_complete_sweep === null);
  const old = reports.filter((report) => !unfinished.includes(report) && stalenessOf(report, now) > maxStaleness);
  const notRight = (accounts: number, why: string): Verdict => {
    const whose = all === 1 ? '' : ` for ${accounts} of ${all} accounts`;
    return { tone: 'red', words: `Not up to date${whose}: ${why}; ${further(toDo)}.` };
  };
  if (unfinished.length + unknown.length > 0)
    return notRight(unfinished.length + unknown.length, unfinishedText(unfinished, now));
  if (old.length > 0) {
    const longest = Math.max(...old.map((report) => stalenessOf(report, now)));
    return notRight(
      old.length,
      Number.isFinite(longest)
        ? `changes of the ${lastInWords(longest)} may be missing`
        : 'the clock was set back, so its age is unknown',
    );
  }
  const asOf = asOfAll(reports);
  const moment = asOf === undefined ? '' : ` as of ${asOf.slice(0, 19)} UTC, ${age({ now: () => now }, asOf)}`;
  const trouble = reports.find(({ failing }) => failing !== null)?.failing;
  const failing = trouble
    ? `the service has not answered correctly since ${age({ now: () => now }, trouble.first_at)}; `
    : '';
  const isQuiet = toDo.length === 0 && !trouble;
  return { tone: isQuiet ? 'green' : 'yellow', words: `Correct${moment}; ${failing}${further(toDo)}.` };
}

function unfinishedText(accounts: readonly AccountStatus[], now: number): string {
  const running = accounts.flatMap(({ runs }) => runs.find(({ outcome }) => outcome === 'running') ?? [])[0];
  return running
    ? `the first sweep is running, started ${age({ now: () => now }, running.started_at)}`
    : 'no complete sweep yet';
}

/** The words, coloured on a terminal that supports it. */
export function styled(
  { stdout, env }: Pick<ProcessContext, 'stdout' | 'env'>,
  { tone }: Verdict,
  text: string,
): string {
  return mayStyle(stdout, env) ? styleText(['bold', tone], text, { validateStream: false }) : text;
}

function further(toDo: readonly string[]): string {
  if (toDo.length === 0) return 'nothing to do';
  return toDo.length === 1 ? 'one thing to do' : `${toDo.length} things to do`;
}

/** Based on `listed_as_of`, as alerts are; Infinity if unknown. */
function stalenessOf({ freshness: { listed_as_of } }: AccountStatus, now: number): number {
  return listed_as_of === null ? Infinity : now - (parseInstant(listed_as_of) ?? now);
}

/** The moment up to which every account is known to hold everything. */
function asOfAll(reports: readonly AccountStatus[]): string | undefined {
  return reports
    .map(({ freshness }) => freshness.safe_as_of ?? freshness.listed_as_of)
    .filter((moment) => moment !== null)
    .sort()[0];
}
