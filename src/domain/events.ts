/** The events that a callback can be registered for: `noun.verb`, or a noun alone for all of its events. */

const written = ['create', 'update', 'delete'] as const;
const mailed = [...written, 'sendByEmail'] as const;

/** Each noun with its verbs and its plural, which also works as a filter of the callback list. */
const nouns = {
  bill: { plural: 'bills', verbs: written },
  bill_vendor: { plural: 'bill_vendors', verbs: written },
  category: { plural: 'categories', verbs: written },
  client: { plural: 'clients', verbs: written },
  credit_note: { plural: 'credit_notes', verbs: written },
  estimate: { plural: 'estimates', verbs: mailed },
  expense: { plural: 'expenses', verbs: written },
  invoice: { plural: 'invoices', verbs: mailed },
  item: { plural: 'items', verbs: written },
  payment: { plural: 'payments', verbs: written },
  project: { plural: 'projects', verbs: written },
  recurring: { plural: 'recurrings', verbs: written },
  service: { plural: 'services', verbs: written },
  tax: { plural: 'taxes', verbs: written },
  time_entry: { plural: 'time_entries', verbs: written },
} as const satisfies Record<string, { readonly plural: string; readonly verbs: readonly string[] }>;

export const registrableEvents: readonly string[] = Object.entries(nouns).flatMap(([noun, { verbs }]) => [
  noun,
  ...verbs.map((verb) => `${noun}.${verb}`),
]);

/** The valid names to suggest instead of an unknown event, as text; undefined where the name is valid. */
export function eventsInstead(name: string): string | undefined {
  if (registrableEvents.includes(name)) return undefined;
  const noun = name.split('.', 1)[0] ?? '';
  const siblings = registrableEvents.filter((event) => event.split('.', 1)[0] === noun);
  const known = siblings.length > 0 ? siblings : registrableEvents.filter((event) => !event.includes('.'));
  const rest = siblings.length > 0 ? '' : ', or one of these with a verb, such as bill_vendor.update';
  return known.join(', ') + rest;
}

export function isAboutVendors(event: string): boolean {
  return event.split('.', 1)[0] === 'bill_vendor';
}

/** The name of a delivered event, as registered ones are spelled if it is about vendors: in small letters, of one of them, with a `_`. */
export function asRegistered(name: string): string {
  const [noun = '', ...verb] = name.trim().split('.');
  return /^bill[ _-]?vendors?$/i.test(noun) ? ['bill_vendor', ...verb].join('.').toLowerCase() : name;
}

const nounOfPlural = new Map<string, string>(Object.entries(nouns).map(([noun, { plural }]) => [plural, noun]));

/** Whether a filter matches a registered event: an event matches itself, a noun or its plural matches all of its events. */
export function isMatchedBy(filter: string, registered: string): boolean {
  const noun = nounOfPlural.get(filter) ?? filter;
  return registered === noun || registered.startsWith(`${noun}.`);
}
