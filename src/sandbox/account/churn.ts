/** Random changes in an account: vendors are created, edited, archived, deleted and restored, balances change, and other events happen. */
import { sleep, type Clock } from '../../domain/clock.ts';
import { eventNames } from '../core/access.ts';
import type { SeededRandom } from '../core/random.ts';
import type { VendorRecord } from '../core/vendor-record.ts';
import { oddMoney, oddTexts } from '../vendors/odd-vendors.ts';
import {
  addressTexts,
  anyBill,
  anyNote,
  centsOf,
  contact,
  contactTexts,
  countries,
  countryNamed,
  digits,
  maxBalance,
  moneyOf,
  plainTexts,
} from '../vendors/plain-vendors.ts';
import type { VendorService } from '../vendors/vendor-service.ts';
import type { Account } from './account.ts';

/** Starts the random changes of an account, and events about anything but vendors, so many a second until the signal is aborted. */
export function changeByItself(
  account: Pick<Account, 'vendors' | 'gateways' | 'announce'>,
  rates: { readonly churn?: number; readonly events?: number },
  clock: Clock,
  randomOf: (what: string) => SeededRandom,
  signal: AbortSignal,
): void {
  if (rates.events) {
    const random = randomOf('events');
    void repeat(rates.events, clock, signal, () => {
      if (random.happens(gatewayReturns)) account.gateways.enableAgain();
      account.announce(random.pick(otherEvents), 1 + random.below(10_000));
    });
  }
  if (rates.churn) {
    const random = randomOf('churn');
    void repeat(rates.churn, clock, signal, () => changeSomething(account.vendors, random));
  }
}

const otherEvents = eventNames.filter((name) => !name.startsWith('bill_vendor.'));
const gatewayReturns = 0.05;

async function repeat(perSecond: number, clock: Clock, signal: AbortSignal, act: () => void): Promise<void> {
  try {
    for (;;) {
      await sleep(clock, 1_000 / perSecond, signal);
      act();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** One random change, such as happens to vendors of this kind. */
export function changeSomething(vendors: VendorService, random: SeededRandom): void {
  if (vendors.records === 'plain') changePlainly(vendors, random);
  else changeOddly(vendors, random);
}

/** What happens to the vendors of a real company: bills come, fall due and are paid; contacts change; now and then a vendor comes or goes. */

/** How many vendors are looked at to find one that fits. */
const looks = 30;

/**
 * One change. The shares are such that neither the number of vendors nor what is owed grows without end: as many come as are deleted or stay
 * archived, and as many owed vendors are paid off as others become owed.
 */
function changePlainly(vendors: VendorService, random: SeededRandom): void {
  const kind = random.below(1_000);
  if (kind < 8) addVendor(vendors, random);
  else if (kind < 18) {
    const settled = find(vendors, random, (one) => one.state === 0 && one.outstanding.length === 0);
    if (!settled) editPlainly(vendors, random);
    else if (kind < 15) vendors.archive(settled.vendorid);
    else vendors.delete(settled.vendorid);
  } else if (kind < 20) {
    const archived = find(vendors, random, ({ state }) => state === 2);
    if (archived) vendors.restore(archived.vendorid);
    else editPlainly(vendors, random);
  } else if (kind < 545) moveBalance(vendors, random);
  else editPlainly(vendors, random);
}

function addVendor(vendors: VendorService, random: SeededRandom): void {
  vendors.create({ ...plainTexts(random, random.below(1_000_000)) });
}

/** Some vendor that fits; undefined if a few looks find none. */
function find(
  vendors: VendorService,
  random: SeededRandom,
  fits: (vendor: VendorRecord) => boolean,
): VendorRecord | undefined {
  for (let look = 0; look < looks; look += 1) {
    const id = vendors.someId(random);
    const found = id === undefined ? undefined : vendors.find(id, 0);
    if (typeof found === 'object' && fits(found)) return found;
  }
  return undefined;
}

function editPlainly(vendors: VendorService, random: SeededRandom): void {
  const vendor = find(vendors, random, ({ state }) => state === 0);
  if (vendor) vendors.edit(vendor.vendorid, { ...editOf(vendor, random) });
  else addVendor(vendors, random);
}

/** Texts to change; a telephone number follows its city. */
function editOf({ texts }: VendorRecord, random: SeededRandom): VendorRecord['texts'] {
  const country = countryNamed(texts.country) ?? countries.find(({ currency }) => currency === texts.currency_code);
  const kind = random.below(100);
  if (!country || kind < 15) return { note: anyNote(random) };
  if (kind < 45) return contactTexts(random, texts.vendor_name ?? '', contact(random, country));
  const city = country.cities.find(({ name }) => name === texts.city) ?? random.pick(country.cities);
  if (kind < 75) return { phone: digits(random, city.phone) };
  if (kind < 85) return { account_number: digits(random, '%#####') };
  const other = random.pick(country.cities);
  return { ...addressTexts(random, country, other), phone: digits(random, other.phone) };
}

/** A bill adds to what is outstanding, time makes a part of it overdue, and a payment takes what is overdue first. */
function moveBalance(vendors: VendorService, random: SeededRandom): void {
  const kind = random.below(100);
  const isOwed = ({ outstanding, state }: VendorRecord): boolean => state === 0 && outstanding.length > 0;
  const owed = kind < 40 ? undefined : find(vendors, random, isOwed);
  const vendor = owed ?? find(vendors, random, ({ state }) => state === 0);
  if (!vendor) {
    addVendor(vendors, random);
    return;
  }
  const code = vendor.outstanding[0]?.code ?? vendor.texts.currency_code ?? 'USD';
  const [outstanding, overdue] = [centsOf(vendor.outstanding), centsOf(vendor.overdue)];
  const set = (total: number, due: number): void =>
    void vendors.setBalances(vendor.vendorid, { outstanding: moneyOf(total, code), overdue: moneyOf(due, code) });
  const bill = anyBill(random);
  if (!owed && outstanding + bill <= maxBalance) set(outstanding + bill, overdue);
  else if (kind < 64 && overdue < outstanding) set(outstanding, overdue + Math.min(bill, outstanding - overdue));
  else if (kind < 84 || outstanding < 2) set(0, 0);
  else {
    const paid = Math.floor(outstanding / 2);
    set(outstanding - paid, overdue - Math.min(paid, overdue));
  }
}

/** A change that odd vendors make: as many of each kind as tests need, whatever a company would do. */
function changeOddly(vendors: VendorService, random: SeededRandom): void {
  const id = vendors.someId(random);
  const kind = random.below(100);
  if (id === undefined || kind < 12) vendors.create({ ...oddTexts(random) });
  else if (kind < 52) editSomething(vendors, id, random);
  else if (kind < 80) moveBalanceOfOddChanges(vendors, id, random);
  else if (kind < 85) vendors.archive(id);
  else if (kind < 90) vendors.delete(id);
  else vendors.restore(id);
}

function editSomething(vendors: VendorService, id: number, random: SeededRandom): void {
  const texts = oddTexts(random);
  const [key, value] = random.pick(Object.entries(texts));
  vendors.edit(id, { [key]: value });
}

function moveBalanceOfOddChanges(vendors: VendorService, id: number, random: SeededRandom): void {
  const kind = random.happens(0.7) ? 'outstanding' : 'overdue';
  vendors.setBalance(id, kind, random.happens(0.2) ? [] : [oddMoney(random, random.pick(['USD', 'EUR', 'CAD']))]);
}
