/** Random changes in an account: vendors are created, edited, archived, deleted and restored, balances change, and other events happen. */
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

/** Starts the random changes of an account, so many a second. */
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

/** Emits random events about anything but vendors, and enables removed gateways again. */
async function otherEventsAtRate(
  account: Pick<Account, 'gateways' | 'announce'>,
  perSecond: number,
  clock: Clock,
  random: SeededRandom,
  signal: AbortSignal,
): Promise<void> {
  await repeat(perSecond, clock, signal, () => {
    if (random.happens(gatewayReturns)) account.gateways.enableAgain();
    account.announce(random.pick(otherEvents), 1 + random.below(10_000));
  });
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

/** One random change. */
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
