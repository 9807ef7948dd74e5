/**
 * Vendors as a real company has them. Their texts fit together: city, province, postal code, telephone and currency are of one country, and
 * the address of the site is made from the name.
 *
 * Invariant, also under the changes of `plain-changes.ts`: nothing is negative, what is overdue is a part of what is outstanding, and that is
 * at most `largestBalance`.
 */
import type { SeededRandom } from '../core/random.ts';
import type { Money, VendorRecord } from '../core/vendor-record.ts';
import type { Invented } from './odd-vendors.ts';
import { countries, type City, type Country } from './plain-countries.ts';
import { taxesOf } from './system-taxes.ts';

type Texts = VendorRecord['texts'];

/** In hundredths of the currency; all plain currencies have hundredths. */
export const largestBalance = 6_000_000;
const [smallestBill, largestBill] = [4_500, 650_000];

const weighted: readonly Country[] = countries.flatMap((country) => Array<Country>(country.weight).fill(country));

/** @param index vendors of different numbers have different names, up to some hundreds in a country */
export function plainVendor(random: SeededRandom, created: number, index: number): Invented {
  const country = random.pick(weighted);
  const isContractor = country.currency === 'USD' && random.happens(0.15);
  return {
    texts: plainTexts(random, index, country, isContractor),
    is1099: isContractor,
    taxes: taxesOf(country.taxes, random, created),
    ...firstBalances(random, country.currency),
  };
}

/** Texts of one vendor; what is not known of it is null. */
export function plainTexts(
  random: SeededRandom,
  index: number,
  country: Country = random.pick(weighted),
  isContractor = false,
): Texts {
  const person = isContractor ? pair(index, country.firstNames, country.lastNames) : contact(random, country);
  const name = isContractor ? person.join(' ') : pair(index, country.firms, country.trades).join(' ');
  const city = random.pick(country.cities);
  const known = (probability: number, text: string): string | null => (random.happens(probability) ? text : null);
  return {
    vendor_name: name,
    account_number: known(0.8, digits(random, '%#####')),
    ...contactTexts(random, name, person),
    phone: known(0.9, digits(random, city.phone)),
    ...addressTexts(random, country, city),
    website: isContractor ? null : known(0.6, `https://www.${domainOf(name)}`),
    currency_code: country.currency,
    language: city.language ?? country.language,
    ...(random.happens(0.2) && { note: random.pick(notes) }),
  };
}

const notes = [
  'Net 30',
  'Net 15',
  'Due on receipt',
  '2 % discount within 10 days',
  'Send remittance advice by email',
  'Quote the order number on every payment',
  'Closed between Christmas and New Year',
];

export function anyNote(random: SeededRandom): string {
  return random.pick(notes);
}

export function contact(random: SeededRandom, country: Country): readonly [first: string, last: string] {
  return [random.pick(country.firstNames), random.pick(country.lastNames)];
}

export function contactTexts(
  random: SeededRandom,
  vendorName: string,
  [first, last]: readonly [string, string],
): Texts {
  const mailbox = random.happens(0.6) ? `${slug(first)}.${slug(last)}` : random.pick(['accounts', 'billing', 'office']);
  return {
    primary_contact_first_name: first,
    primary_contact_last_name: last,
    primary_contact_email: `${mailbox}@${domainOf(vendorName)}`,
  };
}

export function addressTexts(random: SeededRandom, country: Country, city: City): Texts {
  return {
    street: digits(random, random.pick(country.streets)),
    street2: country.street2 !== null && random.happens(0.2) ? digits(random, country.street2) : null,
    city: city.name,
    province: city.province,
    postal_code: digits(random, city.postal),
    country: country.name,
  };
}

/** A bill, in hundredths: small ones are more frequent, and two of three are of whole units. */
export function anyBill(random: SeededRandom): number {
  const cents = Math.round(smallestBill * (largestBill / smallestBill) ** random.fraction());
  return random.happens(0.65) ? cents - (cents % 100) : cents;
}

/** As the service holds an amount: nothing is no amount. */
export function moneyOf(cents: number, code: string): Money[] {
  if (cents === 0) return [];
  return [{ amount: `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`, code }];
}

/** The sum of amounts of one currency, in hundredths. */
export function centsOf(amounts: readonly Money[]): number {
  return amounts.reduce((sum, { amount }) => sum + Math.round(Number(amount) * 100), 0);
}

/** Less than half of the vendors are owed something: one to three bills, of which one may be overdue. */
function firstBalances(random: SeededRandom, code: string): Pick<VendorRecord, 'outstanding' | 'overdue'> {
  if (!random.happens(0.45)) return { outstanding: [], overdue: [] };
  const bills = Array.from({ length: 1 + random.below(3) }, () => anyBill(random));
  const outstanding = bills.reduce((sum, bill) => sum + bill, 0);
  const overdue = random.happens(0.3) ? (bills[0] ?? 0) : 0;
  return { outstanding: moneyOf(outstanding, code), overdue: moneyOf(overdue, code) };
}

/** Different numbers give different pairs, until all are taken. The step is prime to the number of pairs, and leaves no order to see. */
function pair(index: number, lefts: readonly string[], rights: readonly string[]): readonly [string, string] {
  const place = (index * 7_907) % (lefts.length * rights.length);
  return [lefts[place % lefts.length] ?? '', rights[Math.floor(place / lefts.length)] ?? ''];
}

export function digits(random: SeededRandom, pattern: string): string {
  return pattern.replace(/[#%@]/g, (place) => random.text(1, alphabets[place as keyof typeof alphabets]));
}

const alphabets = { '#': '0123456789', '%': '123456789', '@': 'ABEHJLNPRSTWXY' };

function domainOf(vendorName: string): string {
  return `${slug(vendorName)}.example`;
}

/** What a name becomes in addresses: letters without accents, and digits. */
function slug(name: string): string {
  const plain = name.replaceAll('ß', 'ss').normalize('NFD').toLowerCase();
  return plain.replace(/\b(ltd|inc|llc|llp|gmbh|co|kg|sarl|sas|sa)\b/g, '').replace(/[^a-z0-9]/g, '');
}
