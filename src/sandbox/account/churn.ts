/** Random changes in an account: vendors are created, edited, archived, deleted and restored, balances change, and other events happen. */
import { sleep, type Clock } from '../../domain/clock.ts';
import type { SeededRandom } from '../core/random.ts';
import { eventNames } from '../core/event-scopes.ts';
import type { Account } from './account.ts';
import { changeOddly } from './odd-changes.ts';
import { changePlainly } from './plain-changes.ts';
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

/** One random change, such as happens to vendors of this kind. */
export function changeSomething(vendors: VendorService, random: SeededRandom): void {
  if (vendors.records === 'plain') changePlainly(vendors, random);
  else changeOddly(vendors, random);
}
