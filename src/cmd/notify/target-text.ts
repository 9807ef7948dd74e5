/** What `status` says of outgoing webhooks. */
import { age } from '../../domain/age.ts';
import { inWords } from '../../domain/duration.ts';
import type { TargetStatus } from '../../health/judge.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { counted } from '../terminal/counted.ts';
import { heading } from '../terminal/heading.ts';
import { paragraph } from '../terminal/paragraphs.ts';
import { visible } from '../terminal/plain-text.ts';

/** A paragraph about all targets; none where there are none. */
export async function targetsText(context: ProcessContext, targets: readonly TargetStatus[]): Promise<string[]> {
  if (targets.length === 0) return [];
  const lines = targets.map((target) => paragraph(context, `  ${target.target}  `, visible(lineOf(context, target))));
  return [[heading(context, 'Outgoing webhooks'), ...(await Promise.all(lines))].join('\n')];
}

function lineOf({ clock }: ProcessContext, target: TargetStatus): string {
  const { state, waiting, parked, behind, delivered_at, failing_since, last_error, lag_seconds } = target;
  const waits =
    waiting + behind === 0 ? 'nothing waits' : `the oldest change has waited ${inWords(lag_seconds * 1_000)}`;
  const given = parked === 0 ? [] : [`${counted(parked, 'vendor')} given up`];
  const why = failing_since === null ? [] : [`failing since ${age(clock, failing_since)}: ${last_error ?? ''}`];
  return [state, waits, ...given, `last accepted ${age(clock, delivered_at)}`, ...why].join('; ');
}
