/** Life in an account: people create, edit, archive, delete and restore vendors, bills move balances, and all the rest happens too. */
import { sleep, type Clock } from '../../domain/clock.ts';
import type { SeededRandom } from '../core/random.ts';
import { eventNames } from '../core/event-scopes.ts';
import type { Account } from './account.ts';
import { inventMoney, inventTexts } from '../vendors/invent.ts';
import type { VendorService } from '../vendors/vendor-service.ts';

/** Changes `perSecond` things a second until the signal is aborted. */
async function churn(
  vendors: VendorService,
  perSecond: number,
  clock: Clock,
  random: SeededRandom,
  signal: AbortSignal,
): Promise<void> {
  await repeat(perSecond, clock, signal, () => changeSomething(vendors, random));
}

/** Begins what happens to an account without anybody asking for it, so many times a second. */
export function changeByItself(
  account: Pick<Account, 'vendors' | 'gateways' | 'announce'>,
  rates: { readonly churn?: number; readonly events?: number },
  clock: Clock,
  random: (of: string) => SeededRandom,
  signal: AbortSignal,
): void {
  if (rates.events) void otherEventsAtRate(account, rates.events, clock, random('events'), signal);
  if (rates.churn) void churn(account.vendors, rates.churn, clock, random('churn'), signal);
}

/** Makes events happen that are about other things than vendors, any of them, and lets removed gateways come back. */
async function otherEventsAtRate(
  account: Pick<Account, 'gateways' | 'announce'>,
  perSecond: number,
  clock: Clock,
  random: SeededRandom,
  signal: AbortSignal,
): Promise<void> {
  await repeat(perSecond, clock, signal, () => {
    if (random.happens(gatewaysComeBack)) account.gateways.comeBack();
    account.announce(random.pick(otherEvents), 1 + random.below(10_000));
  });
}

const otherEvents = eventNames.filter((name) => !name.startsWith('bill_vendor.'));
const gatewaysComeBack = 0.05;

async function repeat(perSecond: number, clock: Clock, signal: AbortSignal, act: () => void): Promise<void> {
  try {
    for (;;) {
      await sleep(clock, 1_000 / perSecond, signal);
      act();
    }
  } catch (error) {
    // Aborted: life goes on elsewhere.
    if (!signal.aborted) throw error;
  }
}

/** One change, as likely as in life. */
export function changeSomething(vendors: VendorService, random: SeededRandom): void {
  const id = vendors.someId(random);
  const kind = random.below(100);
  if (id === undefined || kind < 12) vendors.create({ ...inventTexts(random) });
  else if (kind < 52) editSomething(vendors, id, random);
  else if (kind < 80) moveBalance(vendors, id, random);
  else if (kind < 85) vendors.archive(id);
  else if (kind < 90) vendors.delete(id);
  else vendors.restore(id);
}

function editSomething(vendors: VendorService, id: number, random: SeededRandom): void {
  const texts = inventTexts(random);
  const [key, value] = random.pick(Object.entries(texts));
  vendors.edit(id, { [key]: value });
}

function moveBalance(vendors: VendorService, id: number, random: SeededRandom): void {
  const kind = random.happens(0.7) ? 'outstanding' : 'overdue';
  vendors.setBalance(id, kind, random.happens(0.2) ? [] : [inventMoney(random, random.pick(['USD', 'EUR', 'CAD']))]);
}
