/**
 * Vendors as a real company has them. Their texts fit together: city, province, postal code, telephone and currency are of one country, and
 * the address of the site is made from the name.
 *
 * Invariant, also under the changes of `churn.ts`: nothing is negative, what is overdue is a part of what is outstanding, and that is
 * at most `maxBalance`.
 */
import type { SeededRandom } from '../core/random.ts';
import { type Money, type VendorRecord, taxesOf } from '../core/vendor-record.ts';
import type { Invented } from './odd-vendors.ts';

/** `#` stands for a digit, `%` for one from 1 to 9, `@` for a letter of a postal code. */
type Pattern = string;

interface City {
  readonly name: string;
  readonly province: string;
  readonly postal: Pattern;
  readonly phone: Pattern;
  /** The language that vendors there use, if it is another one than the country's. */
  readonly language?: string;
}

interface Country {
  readonly name: string;
  readonly currency: string;
  readonly language: string;
  /** How much more often than others vendors are there. */
  readonly weight: number;
  readonly cities: readonly City[];
  readonly streets: readonly Pattern[];
  readonly street2: Pattern | null;
  readonly firstNames: readonly string[];
  readonly lastNames: readonly string[];
  /** A vendor is called one of these followed by one of `trades`. */
  readonly firms: readonly string[];
  readonly trades: readonly string[];
  /** Taxes of purchases there, by number. */
  readonly taxes: readonly number[];
}

const words = (text: string): string[] => text.split(' | ');

const city = (line: string): City => {
  const [name = '', province = '', postal = '', phone = '', language] = words(line);
  return { name, province, postal, phone, ...(language !== undefined && { language }) };
};

const english = {
  firstNames: words(
    'Alice | Ben | Carol | Daniel | Ellen | Frank | Grace | Henry | Irene | James | Karen | Liam | Maria | Nathan | Olivia | Paul | Rachel | Samuel | Teresa | Victor',
  ),
  lastNames: words(
    'Abbott | Bennett | Carter | Dawson | Ellis | Fletcher | Graham | Hughes | Irving | Jensen | Keller | Lambert | Morris | Nolan | Osborne | Porter | Quinn | Reyes | Shaw | Turner | Vance | Walsh | Yates',
  ),
  firms: words(
    'Alder | Beacon | Bennett & Cole | Bluewater | Bridgeport | Cascade | Cedar Hill | Clearview | Crescent | Eastgate | Evergreen | Fairfield | Fletcher Bros. | Granite | Harbor | Highland | Ironwood | Juniper | Keystone | Lakeside | Maplewood | Meridian | Northfield | Oakridge | Pinecrest | Quarry Road | Redwood | Riverside | Summit | Westbrook',
  ),
};

/**
 * The countries that plain vendors are in. Telephone numbers are of ranges that each country keeps for fiction, so that none of them
 * reaches anybody.
 */
export const countries: readonly Country[] = [
  {
    name: 'United States',
    currency: 'USD',
    language: 'en',
    weight: 11,
    cities: [
      'Portland | Oregon | 972## | (503) 555-01##',
      'Seattle | Washington | 981## | (206) 555-01##',
      'Denver | Colorado | 802## | (303) 555-01##',
      'Austin | Texas | 787## | (512) 555-01##',
      'Chicago | Illinois | 606## | (312) 555-01##',
      'Boston | Massachusetts | 021## | (617) 555-01##',
      'Atlanta | Georgia | 303## | (404) 555-01##',
      'Columbus | Ohio | 432## | (614) 555-01##',
      'Minneapolis | Minnesota | 554## | (612) 555-01##',
      'Nashville | Tennessee | 372## | (615) 555-01##',
      'Phoenix | Arizona | 850## | (602) 555-01##',
      'Philadelphia | Pennsylvania | 191## | (215) 555-01##',
    ].map(city),
    streets: words(
      '%## Main St. | %## Oak Ave. | %### Industrial Pkwy. | %## Market St. | %## Commerce Dr. | %### Lakeview Blvd. | %## Mill Rd. | %# Union Sq.',
    ),
    street2: 'Suite %##',
    ...english,
    trades: words(
      'Office Supply | Printing Co. | Electric LLC | Plumbing & Heating | Logistics Inc. | Janitorial Services | Landscaping | IT Solutions LLC | Packaging | Catering | Staffing Inc. | Insurance Agency | Web Hosting | Freight Lines | Signs & Graphics | Equipment Rental | Security Systems | Coffee Roasters | Auto Repair | Consulting Group',
    ),
    taxes: [],
  },
  {
    name: 'Canada',
    currency: 'CAD',
    language: 'en',
    weight: 4,
    cities: [
      'Toronto | Ontario | M5V %@# | (416) 555-01##',
      'Ottawa | Ontario | K1P %@# | (613) 555-01##',
      'Vancouver | British Columbia | V6B %@# | (604) 555-01##',
      'Calgary | Alberta | T2P %@# | (403) 555-01##',
      'Winnipeg | Manitoba | R3C %@# | (204) 555-01##',
      'Halifax | Nova Scotia | B3J %@# | (902) 555-01##',
      'Montréal | Québec | H2X %@# | (514) 555-01## | fr',
      'Québec | Québec | G1R %@# | (418) 555-01## | fr',
    ].map(city),
    streets: words(
      '%## King St. W. | %## Queen St. | %### Water St. | %## Elgin St. | %## Front St. E. | %## Maple Ave.',
    ),
    street2: 'Unit %#',
    ...english,
    trades: words(
      'Office Supply Ltd. | Printing Inc. | Electric Ltd. | Mechanical Services | Transport Inc. | Cleaning Services | Landscaping | IT Services Inc. | Packaging | Catering | Staffing | Courier | Equipment Rentals | Security Ltd. | Coffee Co. | Consulting Inc.',
    ),
    taxes: [36860, 37696],
  },
  {
    name: 'United Kingdom',
    currency: 'GBP',
    language: 'en',
    weight: 2,
    cities: [
      'London | England | SW1P %@@ | +44 20 7946 0###',
      'Manchester | England | M1 %@@ | +44 161 496 0###',
      'Bristol | England | BS1 %@@ | +44 117 496 0###',
      'Leeds | England | LS1 %@@ | +44 113 496 0###',
      'Birmingham | England | B3 %@@ | +44 121 496 0###',
      'Edinburgh | Scotland | EH2 %@@ | +44 131 496 0###',
    ].map(city),
    streets: words(
      '%# High Street | %# Station Road | %## Victoria Street | %# Church Lane | %# Mill Lane | %# Queen Square',
    ),
    street2: 'Unit %',
    ...english,
    trades: words(
      'Stationers Ltd | Printers Ltd | Electrical Ltd | Logistics Ltd | Cleaning Services | Software Ltd | Packaging Ltd | Catering | Recruitment Ltd | Couriers | Signs | Plant Hire | Security Ltd | Design Studio | Consulting LLP',
    ),
    taxes: [],
  },
  {
    name: 'Germany',
    currency: 'EUR',
    language: 'de',
    weight: 2,
    cities: [
      'Berlin | Berlin | 10%## | +49 30 23125 ###',
      'Hamburg | Hamburg | 20%## | +49 40 66969 ###',
      'München | Bayern | 80%## | +49 89 99998 ###',
      'Köln | Nordrhein-Westfalen | 50%## | +49 221 4710 ###',
      'Frankfurt am Main | Hessen | 60%## | +49 69 90009 ###',
    ].map(city),
    streets: words(
      'Hauptstraße %# | Lindenstraße %# | Bahnhofstraße %# | Am Markt % | Gartenstraße %# | Industriestraße %##',
    ),
    street2: null,
    firstNames: words(
      'Anna | Björn | Claudia | Dieter | Eva | Florian | Heike | Jürgen | Katrin | Lukas | Monika | Stefan | Ursula | Wolfgang',
    ),
    lastNames: words(
      'Albrecht | Böhm | Friedrich | Hartmann | Jäger | Krause | Lehmann | Möller | Neumann | Richter | Schröder | Vogel | Winkler | Zimmermann',
    ),
    firms: words(
      'Albrecht | Alster | Böhm & Partner | Elbe | Hansa | Hartmann | Jäger & Söhne | Krause | Lindner | Möller | Nordstern | Rheinland | Schröder | Spree | Südwest | Vogel | Winkler',
    ),
    trades: words(
      'Bürobedarf GmbH | Druckerei | Elektrotechnik GmbH | Spedition GmbH & Co. KG | Gebäudereinigung | Software GmbH | Verpackungen GmbH | Catering | Personalservice GmbH | Werbetechnik | Maschinenbau GmbH | Sanitärtechnik | Beratung GmbH',
    ),
    taxes: [37703],
  },
  {
    name: 'France',
    currency: 'EUR',
    language: 'fr',
    weight: 1,
    cities: [
      'Paris | Île-de-France | 7501% | +33 1 99 00 ## ##',
      'Nantes | Pays de la Loire | 44300 | +33 2 61 91 ## ##',
      'Lille | Hauts-de-France | 59000 | +33 3 53 01 ## ##',
      'Lyon | Auvergne-Rhône-Alpes | 6900% | +33 4 65 71 ## ##',
      'Toulouse | Occitanie | 31000 | +33 5 36 49 ## ##',
    ].map(city),
    streets: words(
      '%# rue de la République | % place du Marché | %# avenue de la Gare | %# rue Pasteur | %# boulevard Voltaire',
    ),
    street2: null,
    firstNames: words(
      'Aurélie | Benoît | Camille | Denis | Élodie | François | Hélène | Julien | Lucie | Mathieu | Nathalie | Thierry',
    ),
    lastNames: words(
      'Bernard | Chevalier | Delmas | Fontaine | Garnier | Lambert | Lefèvre | Marchand | Perrin | Renaud | Rousseau | Vidal',
    ),
    firms: words(
      'Atelier | Bernard & Fils | Comptoir | Delmas | Fontaine | Garnier | Imprimerie | Lefèvre | Maison Perrin | Renaud | Vidal',
    ),
    trades: words(
      'du Centre | Bureautique SARL | Électricité SARL | Transports SA | Nettoyage SARL | Informatique SAS | Emballages | Traiteur | Conseil SAS | des Quais | Sécurité SARL',
    ),
    taxes: [],
  },
];

/** The country of that name; undefined if no plain vendor is in it. */
export function countryNamed(name: unknown): Country | undefined {
  return countries.find((country) => country.name === name);
}

type Texts = VendorRecord['texts'];

/** In hundredths of the currency; all plain currencies have hundredths. */
export const maxBalance = 6_000_000;
const [minBill, maxBill] = [4_500, 650_000];

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
  const cents = Math.round(minBill * (maxBill / minBill) ** random.fraction());
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
