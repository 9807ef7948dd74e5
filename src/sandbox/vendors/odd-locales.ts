/** Names of odd vendors: in many scripts, with characters that break naive programs. */

export interface Locale {
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

export const locales: readonly Locale[] = [
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
