/** `vendors show ID`: everything that the mirror holds of one vendor. */
import { exitStatus, MirrorError } from '../../domain/errors.ts';
import type { Change } from '../../store/reports/change-feed.ts';
import { vendorDetails, type VendorDetail } from '../../store/reports/vendor-detail.ts';
import type { TaxDefault, VisState } from '../../domain/vendor.ts';
import { age } from '../../domain/age.ts';
import type { Call, Run } from '../process/command.ts';
import type { Edge } from '../process/process-context.ts';
import { heading } from '../terminal/heading.ts';
import { askMirror } from '../setup/open-mirror.ts';
import { amounts } from '../terminal/money.ts';
import { visible } from '../terminal/plain-text.ts';
import { errorReport, print, printJson } from '../terminal/print.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { nothing, table } from '../terminal/table.ts';
import { vendorRecord } from './vendor-document.ts';
import { stateName } from './vendors-list.ts';

export const vendorsShow: Run = async (call) => {
  const { edge, options } = call;
  const vendorid = Number(call.args[0]);
  const found = await askMirror(edge, loadSettings(call), (sqlite) => vendorDetails(sqlite, vendorid, options.account));
  if (found?.length === 0) throw new MirrorError('unknown_vendor', `The mirror holds no vendor ${vendorid}.`);
  await printDetails(call, found ?? []);
  return exitStatus.done;
};

/** Prints vendors; with what went wrong about them, if anything did. */
export async function printDetails(
  { edge, options }: Call,
  details: readonly VendorDetail[],
  error?: MirrorError,
): Promise<void> {
  const outcome = error ? { ok: false, error: errorReport(edge, error) } : { ok: true };
  if (options.json) printJson(edge, { ...outcome, vendors: details.map(detailDocument) });
  else if (details.length > 0)
    print(edge, (await Promise.all(details.map((detail) => detailText(edge, detail)))).join('\n\n'));
}

function detailDocument(detail: VendorDetail): object {
  const { record, mirror } = vendorRecord(detail);
  return { ...Object.fromEntries(mirror), record: Object.fromEntries(record), history: detail.history };
}

async function detailText(edge: Edge, detail: VendorDetail): Promise<string> {
  const { record, mirror, outstanding, overdue, taxDefaults } = vendorRecord(detail);
  const said = new Map<string, unknown>([
    ...record,
    ['vis_state', visStateText(detail.vendor.vis_state)],
    ['tax_defaults', taxDefaults.map(taxText).join('; ') || null],
    ['outstanding_balance', amounts(outstanding)],
    ['overdue_balance', amounts(overdue)],
  ]);
  return [
    heading(edge, visible(detail.vendor.vendor_name ?? `Vendor ${detail.vendor.vendorid}`)),
    fieldLines(edge, said),
    '',
    heading(edge, 'In the mirror'),
    fieldLines(edge, mirror),
    '',
    heading(edge, 'History'),
    await historyTable(edge, detail.history),
  ].join('\n');
}

function visStateText(state: VisState | null): string | null {
  return state === null ? null : `${state} (${stateName(state)})`;
}

function taxText({ name, amount, enabled, taxid }: TaxDefault): string {
  const rate = amount === null ? '' : ` ${amount} %`;
  return `${name ?? 'tax'}${rate}${enabled === false ? ', not enabled' : ''} (taxid ${taxid})`;
}

function fieldLines(edge: Edge, fields: ReadonlyMap<string, unknown>): string {
  const widest = Math.max(...[...fields.keys()].map((name) => visible(name).length));
  return [...fields]
    .map(([name, value]) => `  ${visible(name).padEnd(widest)}  ${valueText(edge, name, value)}`)
    .join('\n');
}

function valueText(edge: Edge, name: string, value: unknown): string {
  if (value === null) return nothing;
  if (value === '') return '""';
  if (typeof value !== 'string') return visible(JSON.stringify(value));
  return /_at$|_of$/.test(name) ? `${visible(value)} (${age(edge.clock, value)})` : visible(value);
}

function historyTable(edge: Edge, history: readonly Change[]): Promise<string> {
  return table(
    edge,
    [
      { title: 'seq', right: true, cell: ({ seq }) => seq },
      { title: 'when', cell: ({ at }) => age(edge.clock, at) },
      { title: 'what', cell: ({ kind }) => kind },
      { title: 'learned by', cell: ({ source }) => source },
      { title: 'state', cell: ({ vis_state }) => stateName(vis_state) },
      { title: 'presence', cell: ({ presence }) => presence },
      { title: 'changed fields', cell: ({ changed_fields }) => changed_fields.join(', ') || null },
    ],
    history,
  );
}
