/** Figures of a made-up installation, at noon of 20 November 2026. */
import { currencyDigits, type OwedAmount } from '../../../src/domain/amounts.ts';
import { timestamp } from '../../../src/domain/clock.ts';
import type { CurrencyFigures, Figures } from '../../../src/store/reports/figures.ts';
import type { Payable } from '../../../src/store/reports/owed.ts';
import { before, noon } from './sample.ts';

const [hour, day] = [3_600_000, 86_400_000];

const amountOf = (minor: number): OwedAmount => ({ value: minor / 100, minor: BigInt(minor) });

function payable(
  vendorid: number,
  vendor: string | null,
  currencyCode: string,
  minor: number,
  state: Payable['state'] = 'active',
): Payable {
  const owed = { outstanding: amountOf(minor), overdue: amountOf(minor) };
  return { vendorid, vendor, state, currency: currencyCode, ...owed };
}

/** A year of a currency, in cents: a slow rise, with a wave in it. */
function currency(code: string, size: number): CurrencyFigures {
  const cents = (amount: number): OwedAmount => ({
    value: Math.round(amount) / 10 ** currencyDigits(code),
    minor: BigInt(Math.round(amount)),
  });
  const days = Array.from({ length: 366 }, (_, index) => ({
    day: timestamp(noon - (365 - index) * day).slice(0, 10),
    outstanding: cents(size * (1 + index / 400 + 0.12 * Math.sin(index / 9))),
    overdue: cents(size * (0.2 + 0.08 * Math.cos(index / 14))),
  }));
  const { outstanding, overdue } = days[365]!;
  return { code, vendors: days.length, outstanding, overdue, days };
}

export const sampleFigures: Figures = {
  money: [currency('EUR', 18_412_050), currency('JPY', 2_400_000), currency('USD', 96_120_099)],
  owed: { rows: [], unknown: 0 },
  payables: {
    outstanding: [payable(1563, 'Müller & Söhne GmbH', 'EUR', 1_820_050), payable(1042, 'Papier Weiß', 'EUR', 90_000)],
    overdue: [payable(1042, 'Papier Weiß', 'EUR', 90_000)],
    inactive: [payable(1600, null, 'USD', 12_345, 'archived')],
  },
  contacts: [
    {
      ...{ at: before(26 * hour), source: 'delivery', user: 55, vendorid: 1042, vendor: 'Papier Weiß' },
      change: { seq: 8, field: 'account_number', old: 'DE-1', new: 'DE-2' },
    },
  ],
  hours: Array.from({ length: 49 }, (_, index) => ({
    hour: timestamp(noon - (48 - index) * hour).slice(0, 13),
    deliveries: 3 + ((index * 7) % 11),
    missed: index % 13 === 5 ? 1 : 0,
    late: index % 17 === 9 ? 1 : 0,
    latestSeconds: index % 17 === 9 ? 212 : null,
  })),
  today: { day: '2026-11-20', created: 6, changed: 31 },
  changes: [
    {
      at: before(hour / 2),
      kind: 'updated',
      source: 'delivery',
      vendorid: 1042,
      vendor: 'Papier Weiß',
      changes: [
        { seq: 12, field: 'updated_at', old: '2026-11-19 08:00:00', new: '2026-11-20 11:30:00' },
        { seq: 12, field: 'primary_contact_email', old: 'alt@weiss.example', new: 'neu@weiss.example' },
      ],
    },
    { at: before(hour), kind: 'created', source: 'reconcile', vendorid: 1700, vendor: null, changes: [] },
  ],
  found: [
    {
      at: before(hour),
      kind: 'missed_update',
      vendorid: 1563,
      vendor: 'Müller & Söhne GmbH',
      fields: '["phone","city"]',
      changes: [
        { seq: 9, field: 'phone', old: '+49 221 1', new: '+49 221 2' },
        { seq: 9, field: 'city', old: null, new: 'Köln' },
      ],
    },
    { at: before(3 * hour), kind: 'field_drift', vendorid: null, vendor: null, fields: '["tax_region"]', changes: [] },
  ],
  balancesFound: 14,
  gateways: [
    { sgid: 4001, name: 'stripe', since: before(200 * day), removed: null },
    { sgid: 4002, name: null, since: before(200 * day), removed: before(3 * day) },
  ],
};
