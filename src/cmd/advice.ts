/** What a person should do about an account, judged by its report; nothing where all is well. */
import { parseInstant } from '../clock.ts';
import { catalogue } from '../errors.ts';
import type { AccountReport } from '../store/reports.ts';
import type { RunOutcome } from '../store/tables.ts';
import { inWords } from '../age.ts';

const endings: Partial<Record<RunOutcome, string>> = {
  incomplete: 'was incomplete',
  failed: 'failed',
  abandoned: 'was cut off',
};

/**
 * Sentences, each with its remedy.
 * @param maxStaleness how old, in milliseconds, the mirror may be
 */
export function advice(
  account: string,
  report: AccountReport | undefined,
  now: number,
  maxStaleness: number,
): string[] {
  const safe = report?.freshness.safe_as_of ?? null;
  if (!report || safe === null) return [`${account} was never mirrored completely: run \`vendor-mirror sync\`.`];
  const lines: string[] = [];
  const run = report.runs[0];
  const ending = run && endings[run.outcome];
  if (ending) lines.push(`The last ${run.kind} of ${account} ${ending}: run \`vendor-mirror sync\` again.`);
  const staleness = now - (parseInstant(safe) ?? now);
  if (staleness > maxStaleness)
    lines.push(`${account} may lack changes of the last ${inWords(staleness)}: run \`vendor-mirror sync\`.`);
  if (report.findings.some(({ kind }) => kind === 'breaker'))
    lines.push(`${account}: ${catalogue.breaker_tripped.hint}`);
  if (report.queue.parked > 0)
    lines.push(`${account}: ${report.queue.parked} changed vendors could not be read; a later sweep reads them again.`);
  return lines;
}
