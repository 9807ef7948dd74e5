/** Amounts, as people write them. */
import { currencyPlaces } from '../../domain/amounts.ts';
import type { Balance } from '../../domain/vendor.ts';

/** A vendor's amounts: `1200.00 USD; 5.00 EUR`, exactly as the service wrote them; null where there are none. */
export function amounts(balances: readonly Balance[]): string | null {
  return balances.length === 0 ? null : balances.map(({ amount, code }) => `${amount} ${code}`).join('; ');
}

/** An amount in the minor unit of its currency: `1,234.50 USD`. */
export function money(minor: bigint, code: string): string {
  const places = currencyPlaces(code);
  const digits = String(minor < 0n ? -minor : minor).padStart(places + 1, '0');
  const whole = digits.slice(0, digits.length - places).replace(/\B(?=(\d{3})+$)/g, ',');
  const fraction = places === 0 ? '' : `.${digits.slice(-places)}`;
  return `${minor < 0n ? '-' : ''}${whole}${fraction} ${code}`;
}
