/** Texts of as many vendors as wanted: some hundreds of different ones, numbered through. */
import { seededRandom, mix } from '../../../src/sandbox/core/random.ts';
import { inventVendor } from '../../../src/sandbox/vendors/vendor-book.ts';
import { oddMoney } from '../../../src/sandbox/vendors/odd-vendors.ts';
import { vendorOnWire } from '../../../src/sandbox/core/vendor-record.ts';
import { parseWorld } from '../../../src/sandbox/core/worlds.ts';

const different = 997;
const seed = 7;
const world = parseWorld([]);
export const firstId = 1_000_001;

/** A text around its number, which may stand in it several times. */
type Template = readonly string[];

export interface Texts {
  /** The JSON of the vendor `index` (from 0) after so many edits. */
  vendor(index: number, edits: number): string;
  page(page: number, perPage: number, total: number, round: number): string;
}

export function textsOf(): Texts {
  const templates = Array.from({ length: different }, (_, index) => [templateOf(index, 0), templateOf(index, 1)]);
  const vendor = (index: number, edits: number): string => {
    const template = templates[index % different]![edits] ?? templateOf(index % different, edits);
    return template.join(`"vendorid":${firstId + index}`);
  };
  return {
    vendor,
    page(page, perPage, total, round) {
      const first = (page - 1) * perPage;
      const count = Math.max(0, Math.min(perPage, total - first));
      const vendors = Array.from({ length: count }, (_, row) =>
        vendor(first + row, isEdited(first + row, round) ? 1 : 0),
      );
      const paging = `"page":${page},"pages":${Math.max(1, Math.ceil(total / perPage))},"per_page":${perPage},"total":${total}`;
      return `{"response":{"result":{"bill_vendors":[${vendors.join()}],${paging}}}}`;
    },
  };
}

/** A vendor after so many edits, each a day after the one before it. */
function templateOf(index: number, edits: number): Template {
  const before = inventVendor(seed, index, different, 'odd');
  const random = seededRandom(mix(seed, index + different * (edits - 1)));
  const after = {
    ...before,
    outstanding: before.outstanding.length > 0 ? [oddMoney(random, 'EUR')] : [],
    texts: { ...before.texts, phone: `+49 30 ${random.text(7, '0123456789')}` },
    updated: before.updated + edits * 86_400_000,
  };
  const record = edits === 0 ? before : after;
  return JSON.stringify(vendorOnWire(record, world, 'list')).split(`"vendorid":${before.vendorid}`);
}

/** In each round one vendor of a hundred is edited, one on each page of a hundred. */
function isEdited(index: number, round: number): boolean {
  return index % 100 < round;
}
