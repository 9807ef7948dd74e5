/** The log message for a change that a delivery announced: id and field names, never vendor data. */
import type { VisState } from '../../domain/vendor.ts';
import type { Verdict } from '../../store/decide/verdict.ts';

const becomes: Readonly<Record<VisState, string>> = { 0: 'restored', 1: 'deleted', 2: 'archived' };

/** @returns undefined where nothing changed. */
export function changeMessage(vendorid: number, verdict: Verdict): string | undefined {
  if (verdict.kind === 'created') return `vendor ${vendorid} is new`;
  if (verdict.kind !== 'updated') return undefined;
  const { before, after, changed } = verdict;
  const state = before.vis_state !== after.vis_state && after.vis_state !== null ? becomes[after.vis_state] : undefined;
  if (state === undefined) return `vendor ${vendorid} changed: ${changed.join(', ')}`;
  const others = changed.filter((field) => field !== 'vis_state' && field !== 'updated_at');
  const besides = others.length > 0 ? `, and changed: ${others.join(', ')}` : '';
  return `vendor ${vendorid} was ${state}${besides}`;
}
