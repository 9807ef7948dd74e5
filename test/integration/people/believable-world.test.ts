/** The sandbox that a person tries: its vendors are a company's, when it begins and after days of changes. */
import { describe, expect, it } from 'vitest';
import { changeSomething } from '../../../src/sandbox/account/churn.ts';
import { seededRandom, seedOf } from '../../../src/sandbox/core/random.ts';
import { account } from '../../support/names.ts';
import { testbed } from '../../support/testbed.ts';

interface Vendor {
  readonly vendorid: number;
  readonly vendor_name: string;
  readonly vis_state: number;
  readonly currency_code: string;
  readonly city: string;
  readonly province: string;
  readonly country: string;
  readonly postal_code: string;
  readonly phone: string | null;
  readonly language: string;
  readonly outstanding_balance: readonly Amount[];
  readonly overdue_balance: readonly Amount[];
}

interface Amount {
  readonly amount: { readonly amount: string; readonly code: string };
}

/** What a person of that country would write. */
const written: Readonly<
  Record<string, { currency: string; languages: readonly string[]; phone: RegExp; area: RegExp; postal: RegExp }>
> = {
  'United States': {
    currency: 'USD',
    languages: ['en'],
    phone: /^\(\d{3}\) 555-01\d\d$/,
    area: /^.{5}/,
    postal: /^\d{5}$/,
  },
  Canada: {
    currency: 'CAD',
    languages: ['en', 'fr'],
    phone: /^\(\d{3}\) 555-01\d\d$/,
    area: /^.{5}/,
    postal: /^[A-Z]\d[A-Z] \d[A-Z]\d$/,
  },
  'United Kingdom': {
    currency: 'GBP',
    languages: ['en'],
    phone: /^\+44 \d{2,3} \d{3,4} \d{4}$/,
    area: /^\+44 \d+/,
    postal: /^[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}$/,
  },
  Germany: {
    currency: 'EUR',
    languages: ['de'],
    phone: /^\+49 \d{2,3} \d{4,5} \d{3}$/,
    area: /^\+49 \d+/,
    postal: /^\d{5}$/,
  },
  France: {
    currency: 'EUR',
    languages: ['fr'],
    phone: /^\+33 [1-5]( \d\d){4}$/,
    area: /^\+33 \d/,
    postal: /^\d{5}$/,
  },
};

/** In hundredths. */
const cents = (amounts: readonly Amount[]): number =>
  amounts.reduce((sum, { amount: { amount } }) => sum + Math.round(Number(amount) * 100), 0);

/** What of a vendor's money cannot be, or would surprise its clerk. */
function impossible({ vendorid, currency_code, outstanding_balance, overdue_balance }: Vendor): string[] {
  const [outstanding, overdue] = [cents(outstanding_balance), cents(overdue_balance)];
  const amounts = [...outstanding_balance, ...overdue_balance];
  return [
    ...(amounts.some(({ amount }) => !/^\d+\.\d\d$/.test(amount.amount)) ? ['is no plain amount'] : []),
    ...(amounts.some(({ amount }) => amount.code !== currency_code) ? ['is of another currency'] : []),
    ...(outstanding_balance.length > 1 || overdue_balance.length > 1 ? ['is of several currencies'] : []),
    ...(overdue > outstanding ? ['is more overdue than outstanding'] : []),
    ...(outstanding < 0 || overdue < 0 ? ['is negative'] : []),
    ...(outstanding > 100_000_00 ? ['is huge'] : []),
  ].map((what) => `${vendorid}: ${what}`);
}

/** What of a vendor's texts does not fit together. */
function unfitting(vendor: Vendor): string[] {
  const { vendorid, country, phone, postal_code, currency_code, language, vendor_name } = vendor;
  const usual = written[country];
  if (!usual) return [`${vendorid}: is in ${country}`];
  return [
    ...(currency_code === usual.currency ? [] : [`${currency_code} in ${country}`]),
    ...(usual.languages.includes(language) ? [] : [`${language} in ${country}`]),
    ...(phone === null || usual.phone.test(phone) ? [] : [`${phone} in ${country}`]),
    ...(usual.postal.test(postal_code) ? [] : [`${postal_code} in ${country}`]),
    ...(/^\p{Lu}[\p{L} .&]+$/u.test(vendor_name) ? [] : [`the name ${vendor_name}`]),
  ].map((what) => `${vendorid}: ${what}`);
}

/** Each city lies in one province of one country, and its telephones have one area code. */
function places(all: readonly Vendor[]): string[] {
  const known = new Map<string, Set<string>>();
  const note = (what: string, value: string): void => void known.set(what, (known.get(what) ?? new Set()).add(value));
  for (const { city, province, country, phone } of all) {
    note(`the place of ${city}`, `${province}, ${country}`);
    const [area] = written[country]?.area.exec(phone ?? '') ?? [];
    if (area !== undefined) note(`the area code of ${city}`, area);
  }
  return [...known].flatMap(([what, values]) => (values.size > 1 ? [`${what}: ${[...values].join(' and ')}`] : []));
}

const dayMs = 86_400_000;

describe('the world of a sandbox by default', () => {
  it.each([
    ['sandbox', 250],
    ['1', 250],
    ['another', 30],
    ['large', 3_000],
    ['small', 1],
  ])(
    'L84 of the seed %s with %i vendors has no money that cannot be, also after days of changes',
    async (seed, vendors) => {
      const at = await testbed({ level: 'service', seed, vendors, world: ['records=plain'] });
      const service = at.sandbox.vendors(account);
      const random = seededRandom(seedOf(seed, 'days'));
      const all = (): Vendor[] => service.all() as unknown as Vendor[];
      expect(all().flatMap(impossible)).toEqual([]);
      for (let day = 0; day < 6; day += 1) {
        for (let change = 0; change < 500; change += 1) changeSomething(service, random);
        await at.clock.advance(dayMs);
        expect(all().flatMap(impossible)).toEqual([]);
      }
      const currencies = new Set(all().flatMap((one) => one.outstanding_balance.map(({ amount }) => amount.code)));
      expect([...currencies].sort()).toEqual(expect.arrayContaining(['USD']));
      expect(currencies.size).toBeLessThan(6);
    },
  );

  it.each(['sandbox', '1', 'another'])(
    'L84 of the seed %s has places, telephones, languages and currencies that fit together, also after days of changes',
    async (seed) => {
      const at = await testbed({ level: 'service', seed, vendors: 400, world: ['records=plain'] });
      const service = at.sandbox.vendors(account);
      const random = seededRandom(seedOf(seed, 'days'));
      for (const changes of [0, 3_000]) {
        for (let change = 0; change < changes; change += 1) changeSomething(service, random);
        const all = service.all() as unknown as Vendor[];
        expect(all.flatMap(unfitting)).toEqual([]);
        expect(places(all)).toEqual([]);
        expect(new Set(all.map(({ country }) => country)).size).toBe(Object.keys(written).length);
      }
    },
  );

  it('L84 changes as a company does: what is owed and how many vendors there are stay about the same for weeks', async () => {
    const at = await testbed({ level: 'service', seed: '1', vendors: 250, world: ['records=plain'] });
    const service = at.sandbox.vendors(account);
    const random = seededRandom(1);
    const seen = { states: new Set<number>(), ids: new Set<number>() };
    const weeks: { active: number; owed: number; overdue: number }[] = [];
    for (let week = 0; week < 10; week += 1) {
      const active = (service.all() as unknown as Vendor[]).filter(({ vis_state }) => vis_state === 0);
      const sum = (of: (vendor: Vendor) => readonly Amount[]): number =>
        active.reduce((total, vendor) => total + cents(of(vendor)), 0);
      weeks.push({
        active: active.length,
        owed: sum((one) => one.outstanding_balance),
        overdue: sum((one) => one.overdue_balance),
      });
      for (let change = 0; change < 400; change += 1) changeSomething(service, random);
      for (const { vendorid, vis_state } of service.all() as unknown as Vendor[]) {
        seen.states.add(vis_state);
        seen.ids.add(vendorid);
      }
      await at.clock.advance(7 * dayMs);
    }
    const [first] = weeks;
    for (const { active, owed, overdue } of weeks) {
      expect(active / first!.active).toBeCloseTo(1, 0);
      expect(owed / first!.owed).toBeGreaterThan(0.4);
      expect(owed / first!.owed).toBeLessThan(2.5);
      expect(overdue / owed).toBeGreaterThan(0.02);
    }
    // Vendors are archived, deleted, restored and new, but seldom.
    expect(seen.states).toEqual(new Set([0, 1, 2]));
    expect(seen.ids.size).toBeGreaterThan(255);
    expect(seen.ids.size).toBeLessThan(320);
  });
});
