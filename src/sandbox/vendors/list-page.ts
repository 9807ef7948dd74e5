/** One page of the vendor list. */
import { pageOf, type Page } from '../core/paging.ts';
import { gone, unreadable, type BookView } from './vendor-book.ts';
import type { Sequence } from './row-order.ts';
import type { VendorRecord } from '../core/vendor-record.ts';
import type { World } from '../core/worlds.ts';

/** Rows of the view in the sequence's order. Rows that are counted and not shown leave holes: their page is short. */
export function listVendors(
  view: BookView,
  sequence: Sequence,
  query: URLSearchParams,
  world: World,
): { rows: VendorRecord[]; numbers: Page['numbers'] } {
  const shown = shownMarks(query, world);
  const counted = shown.slice();
  counted[unreadable] = 1;
  if (world.total === 'counts_hidden') counted[1] = 1;

  let total = 0;
  for (const mark of view.marks) total += counted[mark] ?? 0;
  const { offset, limit, numbers } = pageOf(query, total, world);

  const rows: VendorRecord[] = [];
  let place = 0;
  for (let position = 0; position < sequence.length && place < offset + limit; position += 1) {
    const index = sequence.at(position);
    const mark = view.marks[index] ?? gone;
    if (counted[mark] === 0) continue;
    if (place >= offset && shown[mark] === 1) rows.push(view.record(index));
    place += 1;
  }
  return { rows, numbers };
}

/** 1 at each mark whose vendors this query shows. */
function shownMarks(query: URLSearchParams, world: World): Uint8Array {
  const shown = new Uint8Array(256);
  const wanted = world.visStateFilter === 'honoured' ? query.get('search[vis_state]') : null;
  if (wanted === null) {
    shown[0] = shown[2] = 1;
    if (world.listDeleted === 'shown') shown[1] = 1;
  } else if (['0', '1', '2'].includes(wanted)) shown[Number(wanted)] = 1;
  return shown;
}
