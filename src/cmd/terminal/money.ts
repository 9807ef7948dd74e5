/** Amounts, as people write them. */
import type { Balance } from '../../domain/vendor.ts';

/** A vendor's amounts: `1200.00 USD; 5.00 EUR`, exactly as the service wrote them; null where there are none. */
export function amounts(balances: readonly Balance[]): string | null {
  return balances.length === 0 ? null : balances.map(({ amount, code }) => `${amount} ${code}`).join('; ');
}
