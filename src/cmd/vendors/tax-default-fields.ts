/** What may be said about a vendor's tax defaults when they are set. */
import type { TaxDefaultFields } from '../../api/requests.ts';
import { visible } from '../terminal/plain-text.ts';

const isNumber = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0;
const aNumber = 'a whole number from 1';

/** Each key that can be set, and what it must be. */
const keys: Readonly<Record<keyof TaxDefaultFields, readonly [words: string, fits: (value: unknown) => boolean]>> = {
  system_taxid: [aNumber, isNumber],
  taxid: [aNumber, isNumber],
  vendorid: [aNumber, isNumber],
  enabled: ['true or false', (value) => typeof value === 'boolean'],
  tax_authorityid: ['text or null', (value) => value === null || (typeof value === 'string' && value.isWellFormed())],
};

/** What is wrong with a value for `tax_defaults`; undefined where nothing is. */
export function taxDefaultProblem(value: unknown): string | undefined {
  if (!Array.isArray(value))
    return 'tax_defaults is a list of objects, such as [{"system_taxid": 36859, "enabled": true}].';
  for (const item of value as readonly unknown[]) {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return 'A tax default is an object.';
    if (!Object.hasOwn(item, 'system_taxid'))
      return 'A tax default needs system_taxid, the number of a tax of the business.';
    for (const [name, given] of Object.entries(item)) {
      const rule = Object.hasOwn(keys, name) ? keys[name as keyof TaxDefaultFields] : undefined;
      if (!rule)
        return `"${visible(name)}" of a tax default cannot be set. Keys that can be set: ${Object.keys(keys).join(', ')}.`;
      if (!rule[1](given)) return `${name} of a tax default is ${rule[0]}.`;
    }
  }
  return undefined;
}
