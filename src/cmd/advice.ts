/** What a person should do about an account, judged by its report; nothing where all is well. */
import { parseInstant } from '../clock.ts';
import { catalogue } from '../errors.ts';
import type { AccountReport } from '../store/reports.ts';
import { inWords } from './age.ts';

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
  if (run?.outcome === 'incomplete' || run?.outcome === 'failed' || run?.outcome === 'abandoned')
    lines.push(`The last ${run.kind} of ${account} was ${run.outcome}: run \`vendor-mirror sync\` again.`);
  const staleness = now - (parseInstant(safe) ?? now);
  if (staleness > maxStaleness)
    lines.push(`${account} may lack changes of the last ${inWords(staleness)}: run \`vendor-mirror sync\`.`);
  if (report.findings.some(({ kind }) => kind === 'breaker'))
    lines.push(`${account}: ${catalogue.breaker_tripped.hint}`);
  if (report.queue.parked > 0)
    lines.push(
      `${report.queue.parked} marked vendors of ${account} could not be read; the next reconciliation tries them again.`,
    );
  return lines;
}
