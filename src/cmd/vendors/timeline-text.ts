/** A vendor's timeline: each change with its time, how it was learned, and the old and new value of each field. */
import { age } from '../../domain/age.ts';
import { learnedBy } from '../../store/reports/field-changes.ts';
import type { VendorDetail } from '../../store/reports/vendor-detail.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { paragraph } from '../terminal/paragraphs.ts';
import { visible } from '../terminal/plain-text.ts';
import { nothing } from '../terminal/table.ts';

/** Oldest change first, so that the latest stands at the end of the output. */
export async function timelineText(
  context: ProcessContext,
  { history, fields }: Pick<VendorDetail, 'history' | 'fields'>,
): Promise<string> {
  const changes = history.map(async ({ seq, at, kind, source }) => {
    const changedFields = fields.filter((field) => field.seq === seq);
    const widest = Math.max(0, ...changedFields.map(({ field }) => visible(field).length));
    const lines = changedFields.map(({ field, old, new: fresh }) =>
      paragraph(context, `    ${visible(field).padEnd(widest)}  `, `${valueText(old)} → ${valueText(fresh)}`),
    );
    const when = `${at.slice(0, 19)} UTC (${age(context.clock, at)})`;
    const head = paragraph(context, `  ${when}  `, `${kind}, learned by ${learnedBy[source]}`);
    return (await Promise.all([head, ...lines])).join('\n');
  });
  return (await Promise.all(changes)).join('\n');
}

function valueText(value: string | null): string {
  if (value === null) return nothing;
  return value === '' ? '""' : visible(value);
}
