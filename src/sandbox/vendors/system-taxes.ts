/** The taxes of the business, and those that a vendor has by default. */
import type { SeededRandom } from '../core/random.ts';
import type { TaxRecord } from '../core/vendor-record.ts';

export type SystemTax = Pick<TaxRecord, 'name' | 'amount'> & { readonly system_taxid: number };

const oddTaxes: readonly SystemTax[] = [
  { system_taxid: 36859, name: 'GST', amount: '13.56' },
  { system_taxid: 37696, name: 'HST', amount: '13' },
  { system_taxid: 37701, name: 'MwSt. 7 %', amount: '7' },
  { system_taxid: 37702, name: 'ΦΠΑ', amount: '24.000' },
];
const systemTaxes: readonly SystemTax[] = [
  ...oddTaxes,
  { system_taxid: 36860, name: 'GST', amount: '5' },
  { system_taxid: 37703, name: 'MwSt. 19 %', amount: '19' },
];

/** The tax of that number; undefined if there is none. */
export function systemTax(id: unknown): SystemTax | undefined {
  return systemTaxes.find((tax) => tax.system_taxid === id);
}

/** Mostly none, otherwise some of the odd taxes. */
export function drawnTaxes(random: SeededRandom, created: number): TaxRecord[] {
  if (!random.happens(0.2)) return [];
  return oddTaxes
    .filter(() => random.happens(0.4))
    .map((tax, position) =>
      taxRecord(tax, {
        taxid: position * 2 + 1,
        enabled: random.happens(0.8),
        tax_authorityid: random.happens(0.2) ? `№ ${random.text(4, '0123456789')}` : null,
        created,
      }),
    );
}

/** Mostly none, otherwise one of the numbers. */
export function taxesOf(numbers: readonly number[], random: SeededRandom, created: number): TaxRecord[] {
  const tax = random.happens(0.4) ? systemTax(random.pick(numbers)) : undefined;
  if (!tax) return [];
  return [taxRecord(tax, { taxid: 1, enabled: true, tax_authorityid: random.text(9, '123456789'), created })];
}

function taxRecord(
  tax: SystemTax,
  rest: Pick<TaxRecord, 'taxid' | 'enabled' | 'tax_authorityid' | 'created'>,
): TaxRecord {
  return { ...tax, ...rest, updated: rest.created };
}
