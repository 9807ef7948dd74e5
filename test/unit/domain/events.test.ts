import { describe, expect, it } from 'vitest';
import { isAboutVendors, isMatchedBy, registrableEvents } from '../../../src/domain/events.ts';
import { eventNames, filterMatches } from '../../../src/sandbox/core/access.ts';

const nouns = registrableEvents.filter((event) => !event.includes('.'));
const plurals = [
  ['bill', 'bills'],
  ['bill_vendor', 'bill_vendors'],
  ['category', 'categories'],
  ['client', 'clients'],
  ['credit_note', 'credit_notes'],
  ['estimate', 'estimates'],
  ['expense', 'expenses'],
  ['invoice', 'invoices'],
  ['item', 'items'],
  ['payment', 'payments'],
  ['project', 'projects'],
  ['recurring', 'recurrings'],
  ['service', 'services'],
  ['tax', 'taxes'],
  ['time_entry', 'time_entries'],
] as const;

describe.each([
  ['the client', isMatchedBy],
  ['the sandbox', filterMatches],
])('a filter of %s by event', (_, matches) => {
  it.each(plurals)('K36 %s matches by itself and by its one plural, %s', (noun, plural) => {
    for (const filter of [noun, plural])
      for (const registered of [noun, `${noun}.create`, `${noun}.delete`])
        expect(matches(filter, registered), `${filter} of ${registered}`).toBe(true);
    const strangers = [`${noun}s`, `${noun}es`, `${plural}s`, `${plural}.create`].filter((word) => word !== plural);
    for (const filter of strangers) expect(matches(filter, `${noun}.create`), filter).toBe(false);
    for (const other of nouns.filter((word) => word !== noun)) expect(matches(plural, `${other}.create`)).toBe(false);
  });

  it('K36 an event matches itself only', () => {
    expect(matches('invoice.create', 'invoice.create')).toBe(true);
    expect(matches('invoice.create', 'invoice.update')).toBe(false);
    expect(matches('invoice.create', 'invoice')).toBe(false);
  });
});

it('C16 every verb of bill_vendor is about vendors, and no other noun is', () => {
  for (const event of ['bill_vendor.update', 'bill_vendor.archived', 'bill_vendor'])
    expect(isAboutVendors(event)).toBe(true);
  for (const event of ['bill.create', 'bill_vendors.create', 'callback.verify', ''])
    expect(isAboutVendors(event)).toBe(false);
});

it('client and sandbox know the same events', () => {
  expect(registrableEvents.filter((event) => event.includes('.'))).toEqual(eventNames);
  expect(plurals.map(([noun]) => noun)).toEqual(nouns);
});
