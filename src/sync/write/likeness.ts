/**
 * Whether a vendor may be the one that was asked for, although the service has tidied its name: blanks, case, accents, HTML entities and tags,
 * letters that it cannot store, and its length. Doubt counts as yes.
 */
import { textFields, Unreadable, type Vendor } from '../../domain/vendor.ts';
import type { NewVendor } from '../../api/requests.ts';

/** What many vendors share, so that it tells none apart. */
const common: ReadonlySet<string> = new Set([
  'vendor_name',
  'language',
  'currency_code',
  'country',
  'province',
  'city',
]);

/** Whether the name is alike, or any other text that was sent and that tells vendors apart. */
export function mayBe(requested: NewVendor, shown: Vendor): boolean {
  const name = shown.vendor_name ?? '';
  if (name instanceof Unreadable || areNamesAlike(requested.vendor_name, name)) return true;
  return textFields.some((field) => {
    const sent: unknown = common.has(field) ? undefined : requested[field as keyof NewVendor];
    const there = shown[field];
    return typeof sent === 'string' && typeof there === 'string' && bare(sent) !== '' && bare(sent) === bare(there);
  });
}

/** Whether a service may have made `shown` of the name that was sent: the same letters and digits, the first of them, or more. */
export function areNamesAlike(sent: string, shown: string): boolean {
  // A name that was cut may end within an entity.
  const there = bare(withoutEntities(shown).replace(/&#?\w{0,6}$/, ''));
  return readings(sent).some((one) => (one === '' || there === '' ? one === there : isPart(one, there)));
}

function isPart(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one);
}

/** What may be left of a name: its letters without accents, written out, or without those that are not ASCII; with and without tags. */
function readings(name: string): string[] {
  const text = withoutEntities(name);
  return [text, text.replace(/<[^>]*>/g, ' ')].flatMap((one) => [
    bare(one),
    bare(one.replace(/[äöüåæøœ]/gi, (letter) => writtenOut[letter.toLowerCase()] ?? letter)),
    bare(one.replace(/[^\x20-\x7e]/g, '')),
  ]);
}

const writtenOut: Readonly<Record<string, string>> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  å: 'aa',
  æ: 'ae',
  ø: 'oe',
  œ: 'oe',
};

/** Letters and digits alone, without case and accents. */
function bare(text: string): string {
  const folded = text.normalize('NFKD').replace(/\p{M}+/gu, '');
  return folded
    .toUpperCase()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  szlig: 'ß',
  aelig: 'æ',
  oelig: 'œ',
};

/** HTML entities may stand in place of characters, and be escaped more than once. */
function withoutEntities(text: string): string {
  const decoded = text.replace(
    /&(?:#(\d{1,6})|#x([\da-f]{1,5})|(\w{2,6}));/gi,
    (whole: string, decimal?: string, hex?: string, name?: string) => {
      const accented = /^([a-z])(?:acute|grave|circ|uml|tilde|cedil|ring|slash|caron)$/i.exec(name ?? '')?.[1];
      if (name !== undefined) return entities[name.toLowerCase()] ?? accented ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
  return decoded === text ? text : withoutEntities(decoded);
}
