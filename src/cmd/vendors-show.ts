/** `vendors show ID`: everything that the mirror holds of one vendor. */
import { age } from '../domain/clock.ts';
import { exitStatus, MirrorError } from '../domain/errors.ts';
import { stateWord, type TaxDefault, type VisState } from '../domain/vendor.ts';
import { learnedBy } from '../store/reports/change-feed.ts';
import {
  accountsThatForgot,
  vendorDetails,
  vendorDocument,
  vendorRecord,
  type VendorDetail,
} from '../store/reports/vendor-detail.ts';
import { loadSettings } from './load-settings.ts';
import { queryMirror } from './open-mirror.ts';
import type { Call, CommandHandler } from './process/command.ts';
import type { ProcessContext } from './process/process-context.ts';
import { errorReport, print, printJson } from './terminal/print.ts';
import { nothing } from './terminal/table.ts';
import { amounts, facts, heading, paragraph, visible } from './terminal/text.ts';

export const vendorsShow: CommandHandler = async (call) => {
  const { context, options } = call;
  const vendorid = Number(call.args[0]);
  const found = await queryMirror(context, await loadSettings(call), async (snapshot) => ({
    details: await vendorDetails(snapshot, vendorid, options.account),
    forgottenBy: (await accountsThatForgot(snapshot, vendorid)).find((id) => id === (options.account ?? id)),
  }));
  if (found?.details.length === 0) throw unknownVendor(vendorid, found.forgottenBy);
  await printDetails(call, found?.details ?? []);
  return exitStatus.done;
};

/** No sweep brings back what was forgotten. */
function unknownVendor(vendorid: number, forgottenBy: string | undefined): MirrorError {
  if (forgottenBy === undefined) return new MirrorError('unknown_vendor', `The mirror holds no vendor ${vendorid}.`);
  return new MirrorError(
    'unknown_vendor',
    `The mirror has forgotten vendor ${vendorid} of ${forgottenBy}, as it was told.`,
    {
      remedy: `To mirror it again, run \`vendor-mirror forget --undo --vendor ${vendorid} --account ${forgottenBy}\`.`,
    },
  );
}

/** Prints vendors; with what went wrong about them, if anything did. */
export async function printDetails(
  { context, options }: Call,
  details: readonly VendorDetail[],
  error?: MirrorError,
): Promise<void> {
  const outcome = error ? { ok: false, error: errorReport(context, error) } : { ok: true };
  if (options.json)
    printJson(context, {
      ...outcome,
      vendors: details.map((detail) => ({ ...vendorDocument(detail), history: detail.history })),
    });
  else if (details.length > 0)
    print(context, (await Promise.all(details.map((detail) => detailText(context, detail)))).join('\n\n'));
}

async function detailText(context: ProcessContext, detail: VendorDetail): Promise<string> {
  const { record, mirror, outstanding, overdue, taxDefaults } = vendorRecord(detail);
  const fields = new Map<string, unknown>([
    ...record,
    ['vis_state', visStateText(detail.vendor.vis_state)],
    ['tax_defaults', taxDefaults.map(taxText).join('; ') || null],
    ['outstanding_balance', amounts(outstanding)],
    ['overdue_balance', amounts(overdue)],
  ]);
  return [
    heading(context, visible(detail.vendor.vendor_name ?? `Vendor ${detail.vendor.vendorid}`)),
    await fieldLines(context, fields),
    '',
    heading(context, 'In the mirror'),
    await fieldLines(context, mirror),
    '',
    heading(context, 'Timeline'),
    await timelineText(context, detail),
  ].join('\n');
}

function visStateText(state: VisState | null): string | null {
  return state === null ? null : `${state} (${stateWord(state)})`;
}

function taxText({ name, amount, enabled, taxid }: TaxDefault): string {
  const rate = amount === null ? '' : ` ${amount} %`;
  return `${name ?? 'tax'}${rate}${enabled === false ? ', not enabled' : ''} (taxid ${taxid})`;
}

function fieldLines(context: ProcessContext, fields: ReadonlyMap<string, unknown>): Promise<string> {
  return facts(
    context,
    [...fields].map(([name, value]) => [visible(name), valueText(context, name, value)]),
  );
}

function valueText(context: ProcessContext, name: string, value: unknown): string {
  if (value === null) return nothing;
  if (value === '') return '""';
  if (typeof value !== 'string') return visible(JSON.stringify(value));
  return /_at$|_of$/.test(name) ? `${visible(value)} (${age(context.clock, value)})` : visible(value);
}

/** Oldest change first, so that the latest stands at the end of the output. */
async function timelineText(
  context: ProcessContext,
  { history, fields }: Pick<VendorDetail, 'history' | 'fields'>,
): Promise<string> {
  const changes = history.map(async ({ seq, at, kind, source }) => {
    const changedFields = fields.filter((field) => field.seq === seq);
    const widest = Math.max(0, ...changedFields.map(({ field }) => visible(field).length));
    const lines = changedFields.map(({ field, old, new: fresh }) =>
      paragraph(context, `    ${visible(field).padEnd(widest)}  `, `${timelineValue(old)} → ${timelineValue(fresh)}`),
    );
    const when = `${at.slice(0, 19)} UTC (${age(context.clock, at)})`;
    const head = paragraph(context, `  ${when}  `, `${kind}, learned by ${learnedBy[source]}`);
    return (await Promise.all([head, ...lines])).join('\n');
  });
  return (await Promise.all(changes)).join('\n');
}

function timelineValue(value: string | null): string {
  if (value === null) return nothing;
  return value === '' ? '""' : visible(value);
}
