/**
 * Odd vendors, for tests: names in many scripts, empty texts, huge and negative amounts, more overdue than outstanding. Each draws the same
 * values for the same seed in every version, because kept seeds of the simulation depend on it.
 */
import type { SeededRandom } from '../core/random.ts';
import { type Money, type VendorRecord, type WritableText, drawnTaxes } from '../core/vendor-record.ts';

/** What is invented of a vendor, besides its id, its state and its times. */
export type Invented = Pick<VendorRecord, 'texts' | 'is1099' | 'taxes' | 'outstanding' | 'overdue'>;

export function oddVendor(random: SeededRandom, created: number): Invented {
  const locale = random.pick(locales);
  const outstanding = oddBalance(random, locale, 0.4);
  return {
    texts: oddTexts(random, locale),
    is1099: locale.currency === 'USD' && random.happens(0.3),
    taxes: drawnTaxes(random, created),
    outstanding,
    overdue: outstanding.filter(() => random.happens(0.4)),
  };
}

/** Texts for one vendor: some of them null, some empty. Only about a tenth have a note. */
export function oddTexts(
  random: SeededRandom,
  locale: Locale = random.pick(locales),
): Readonly<Partial<Record<WritableText, string | null>>> {
  const first = random.pick(locale.firstNames);
  const last = random.pick(locale.lastNames);
  const sometimes = (text: string): string | null => (random.happens(0.75) ? text : random.happens(0.7) ? null : '');
  const texts = {
    vendor_name: `${random.pick(locale.firms)} ${random.pick(random.happens(0.5) ? locale.trades : locale.lastNames)}`,
    account_number: sometimes(random.text(8, '0123456789')),
    primary_contact_first_name: sometimes(first),
    primary_contact_last_name: sometimes(last),
    primary_contact_email: sometimes(`contact${random.below(10_000)}@vendor.example`),
    phone: sometimes(`+${1 + random.below(98)} ${random.text(3, '23456789')}-${random.text(7, '0123456789')}`),
    street: sometimes(`${1 + random.below(400)} ${random.pick(locale.streets)}`),
    street2: random.happens(0.15) ? `Unit #${1 + random.below(40)}` : null,
    city: sometimes(random.pick(locale.cities)),
    province: sometimes(random.pick(locale.provinces)),
    postal_code: sometimes(random.text(5, '0123456789')),
    country: sometimes(locale.country),
    website: sometimes(`vendor${random.below(10_000)}.example`),
    currency_code: locale.currency,
    language: locale.language,
  };
  if (!random.happens(0.1)) return texts;
  return {
    ...texts,
    note: random.pick(['Net 30', `Ask for “${first}”,\nnever "${last}"`, 'a, b; c\td', '<i>50% & more</i> ✅']),
  };
}

/** Mostly none, often one amount in the currency of the locale, now and then a second in another one. */
function oddBalance(random: SeededRandom, locale: Locale, probability: number): Money[] {
  if (!random.happens(probability)) return [];
  const codes = random.happens(0.1) && locale.currency !== 'GBP' ? [locale.currency, 'GBP'] : [locale.currency];
  return codes.map((code) => oddMoney(random, code));
}

/** Currencies of `locales` that have no smaller unit: the service writes their amounts with two decimals all the same. */
const wholeCurrencies: ReadonlySet<string> = new Set(['JPY']);

/** A decimal with two digits, at times negative and at times large. */
export function oddMoney(random: SeededRandom, code: string): Money {
  const drawn = random.below(random.happens(0.02) ? 10 ** 11 : 10 ** 6);
  const cents = wholeCurrencies.has(code) ? drawn - (drawn % 100) : drawn;
  const sign = random.happens(0.02) ? '-' : '';
  return { amount: `${sign}${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`, code };
}

/** Names of odd vendors: in many scripts, with characters that break naive programs. */
interface Locale {
  readonly country: string;
  readonly currency: string;
  readonly language: string;
  readonly cities: readonly string[];
  readonly provinces: readonly string[];
  readonly streets: readonly string[];
  readonly firstNames: readonly string[];
  readonly lastNames: readonly string[];
  /** A vendor is called one of these followed by one of `trades`, or by a last name. */
  readonly firms: readonly string[];
  readonly trades: readonly string[];
}

const words = (text: string): string[] => text.split(' | ');

const locale = (
  [country, currency, language]: readonly [string, string, string],
  cities: string,
  provinces: string,
  streets: string,
  firstNames: string,
  lastNames: string,
  firms: string,
  trades: string,
): Locale => ({
  country,
  currency,
  language,
  cities: words(cities),
  provinces: words(provinces),
  streets: words(streets),
  firstNames: words(firstNames),
  lastNames: words(lastNames),
  firms: words(firms),
  trades: words(trades),
});

const locales: readonly Locale[] = [
  locale(
    ['United States', 'USD', 'en'],
    'San Francisco | Palo Alto | Boise | St. Paul | Coeur d’Alene',
    'California | Idaho | Minnesota | New York',
    "Sample Ave. | Orchard Way | 5th St. NW | O'Farrell Street",
    'Jo | Ada | Mia | Siobhán | Nguyễn',
    "O'Brien | Reed | Field | Marsh | St. John-Smythe",
    'Northwind | Orchard & Sons | "Quick" Quality | Acme, | A/B | <Best> | Dollar $mart | 50% Off',
    'Supply | Parts, Inc. | Catering; Events | Staples | Hardware, LLC | Print & Copy',
  ),
  locale(
    ['Canada', 'CAD', 'fr'],
    'Montréal | Québec | Trois-Rivières | Sault Ste. Marie',
    'Québec | Ontario | Île-du-Prince-Édouard',
    'rue de l’Église | chemin Sainte-Foy | King St. W.',
    'Zoë | François | Élodie | Noël',
    'Côté | L’Heureux | Bélanger | D’Amour',
    'Épicerie | Café | Boulangerie « Chez nous » | Œuvres',
    'du Nord | Côté & Fils | générale inc. | à la carte',
  ),
  locale(
    ['Germany', 'EUR', 'de'],
    'München | Köln | Düsseldorf | Weißenfels',
    'Bayern | Nordrhein-Westfalen | Thüringen',
    'Große Straße | Königsallee | Am Mühlbach',
    'Jürgen | Käthe | Sören | Björn',
    'Müller | Weiß | Schröder-Günther | Größl',
    'Bäckerei | Spedition | Müller & Söhne | Büro',
    'GmbH & Co. KG | Süd | „Zum Löwen“ | Straßenbau',
  ),
  locale(
    ['Poland', 'PLN', 'pl'],
    'Łódź | Kraków | Gdańsk',
    'łódzkie | małopolskie',
    'ul. Świętokrzyska | ul. Żurawia',
    'Łukasz | Żaneta | Święcisława',
    'Wiśniewski | Gżegżółka | Dąbrowska',
    'Piekarnia | Usługi | Zakład',
    'Źródło | sp. z o.o. | Ślusarski',
  ),
  locale(
    ['Russia', 'RUB', 'ru'],
    'Санкт-Петербург | Екатеринбург | Тверь',
    'Тверская область | Урал',
    'ул. Ленина | пр-т Мира | Щёлковское ш.',
    'Анна | Фёдор | Юлия',
    'Объедков | Щукина | Ёлкин',
    'ООО «Рога и Копыта» | Ёлочка | Подъём',
    'Строй | Сервис | и Партнёры',
  ),
  locale(
    ['Greece', 'EUR', 'el'],
    'Αθήνα | Θεσσαλονίκη | Ηράκλειο',
    'Αττική | Κρήτη',
    'Οδός Ερμού | Λεωφ. Συγγρού',
    'Γιώργος | Ελένη | Σπύρος',
    'Παπαδόπουλος | Ξενάκης | Ψαρρά',
    'Αφοί | Φούρνος | Ναυτιλιακή',
    'ΑΕ | ο Ήλιος | Πειραιώς',
  ),
  locale(
    ['United Arab Emirates', 'AED', 'ar'],
    'دبي | أبو ظبي | الشارقة',
    'إمارة دبي | العين',
    'شارع الشيخ زايد | شارع ٤٢',
    'محمد | فاطمة | عبد الله',
    'الهاشمي | بن سعيد | النجّار',
    'شركة النور | مؤسسة الخليج | مخبز',
    'للتجارة | والأبناء | ش.م.م',
  ),
  locale(
    ['Israel', 'ILS', 'he'],
    'תל אביב-יפו | ירושלים | חיפה',
    'מחוז המרכז | הגליל',
    'רחוב הרצל | שד׳ רוטשילד',
    'נועה | יוסף | רבקה',
    'כהן | בן־דוד | לוי',
    'מאפיית | דפוס | קפה',
    'בע״מ | השלום | ובניו',
  ),
  locale(
    ['Japan', 'JPY', 'ja'],
    '東京 | 大阪市 | 札幌',
    '東京都 | 北海道',
    '丸の内一丁目 | ガード下ル',
    '花子 | 一郎 | さくら',
    '山田 | 髙橋 | 𠮷野',
    '株式会社 | (有)みどり | ㈱サンプル',
    '商店 | ハーフ | 運輸',
  ),
  locale(
    ['China', 'CNY', 'zh'],
    '北京 | 上海 | 深圳',
    '广东省 | 江苏省',
    '长安街 | 南京路',
    '伟 | 秀英 | 𡨴',
    '王 | 欧阳 | 李',
    '北方 | 永兴 | 龙腾',
    '有限公司 | 五金 | 印刷厂',
  ),
  locale(
    ['India', 'INR', 'hi'],
    'मुंबई | दिल्ली | जयपुर',
    'महाराष्ट्र | राजस्थान',
    'गांधी मार्ग | स्टेशन रोड',
    'प्रिया | राहुल | कृष्ण',
    'शर्मा | सिंह | श्रीवास्तव',
    'श्री गणेश | भारत | ज्ञान',
    'ट्रेडर्स | एंड कंपनी | मिठाई',
  ),
  locale(
    ['Kuwait', 'KWD', 'en'],
    'Kuwait City | Al Aḩmadī',
    'Al Asimah',
    'Fahad Al-Salem St. | Gulf Rd.',
    'Nasser | Dalal',
    'Al-Sabah | Al-Mutairi',
    'Pearl 🐚 | Gulf ⚓️ | 👩‍🔧 Family',
    'Trading Co. 🚚 | Works 🛠️ | & Partners 👨‍👩‍👧‍👦',
  ),
];
