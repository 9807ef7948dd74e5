import { describe, expect, it } from 'vitest';
import { Unreadable, type Vendor } from '../../../../src/domain/vendor.ts';
import { areNamesAlike, mayBe } from '../../../../src/sync/write/create.ts';

describe('L18 a name that a service has tidied', () => {
  it.each([
    ['blanks', '  Müller   & Söhne ', 'Müller & Söhne'],
    ['no-break spaces', 'Müller\u00a0AG', 'Müller AG'],
    ['case', 'acme Parts', 'ACME PARTS'],
    ['the case of ß', 'Straße 7', 'STRASSE 7'],
    ['accents', 'Café Žižek', 'Cafe Zizek'],
    ['composed accents', 'Cafe\u0301', 'Café'],
    ['umlauts that are written out', 'Müller Øl', 'Mueller Oel'],
    ['letters that are dropped', 'Müller Söhne', 'Mller Shne'],
    ['letters that became question marks', '東京商事', '????'],
    ['letters that are dropped beside others', '東京 Trading', 'Trading'],
    ['entities', `Smith & Sons' <Ltd>`, 'Smith &amp; Sons&#39; &lt;Ltd&gt;'],
    ['entities twice', 'A & B', 'A &amp;amp; B'],
    ['entities by name', 'Müller Ångström', 'M&uuml;ller &Aring;ngstr&ouml;m'],
    ['entities that were sent', 'Smith &amp; Sons', 'Smith & Sons'],
    ['tags', 'Acme <b>GmbH</b>', 'Acme GmbH'],
    ['its end', 'The very long name of a company', 'The very long name o'],
    ['its end within an entity', 'Bread & Butter', 'Bread &am'],
    ['what is added', 'Acme', 'Acme (2)'],
    ['punctuation', 'Acme, Inc.', 'Acme Inc'],
    ['several of these', `  Müller & Söhne's Großhandel AG `, 'MULLER &AMP; SOHNE&#3'],
  ])('is recognised: %s', (_, sent, shown) => {
    expect(areNamesAlike(sent, shown)).toBe(true);
  });

  it.each([
    ['Acme', 'Northwind'],
    ['東京商事', '大阪商事'],
    ['Müller', 'Möller'],
    ['Smith & Sons', 'Smithers'],
    ['Acme', ''],
    ['Acme', '&#0;&#x110000;&nothing;'],
  ])('%j is not taken for %j', (sent, shown) => {
    expect(areNamesAlike(sent, shown)).toBe(false);
  });
});

describe('L18 another text that tells vendors apart', () => {
  const sent = { vendor_name: 'Acme', language: 'en', currency_code: 'USD', primary_contact_email: 'a@acme.example' };
  const shown = (vendor: object): Vendor =>
    ({ vendor_name: 'X 17', unknown: new Map(), ...vendor }) as unknown as Vendor;

  it('is enough where the name is another', () => {
    expect(mayBe(sent, shown({ primary_contact_email: 'A@Acme.example' }))).toBe(true);
    expect(mayBe(sent, shown({ primary_contact_email: 'b@acme.example' }))).toBe(false);
  });

  it('is not needed where the name cannot be read', () => {
    expect(mayBe(sent, shown({ vendor_name: new Unreadable('{}', null) }))).toBe(true);
  });

  it('is neither language, currency nor place, nor an empty text', () => {
    const common = { language: 'en', currency_code: 'USD', country: 'Austria', city: 'Graz', phone: '' };
    expect(mayBe({ ...sent, ...common }, shown(common))).toBe(false);
  });
});
