/** Events that can be registered, and the scope each needs. */

const writeVerbs = ['create', 'update', 'delete'] as const;
const mailVerbs = [...writeVerbs, 'sendByEmail'] as const;

const nouns: Readonly<Record<string, { readonly verbs: readonly string[]; readonly scope: string }>> = {
  bill: { verbs: writeVerbs, scope: 'user:bills:read' },
  bill_vendor: { verbs: writeVerbs, scope: 'user:bill_vendors:read' },
  category: { verbs: writeVerbs, scope: 'user:expenses:read' },
  client: { verbs: writeVerbs, scope: 'user:clients:read' },
  credit_note: { verbs: writeVerbs, scope: 'user:credit_notes:read' },
  estimate: { verbs: mailVerbs, scope: 'user:estimates:read' },
  expense: { verbs: writeVerbs, scope: 'user:expenses:read' },
  invoice: { verbs: mailVerbs, scope: 'user:invoices:read' },
  item: { verbs: writeVerbs, scope: 'user:billable_items:read' },
  payment: { verbs: writeVerbs, scope: 'user:payments:read' },
  project: { verbs: writeVerbs, scope: 'user:projects:read' },
  recurring: { verbs: writeVerbs, scope: 'user:invoices:read' },
  service: { verbs: writeVerbs, scope: 'user:billable_items:read' },
  tax: { verbs: writeVerbs, scope: 'user:taxes:read' },
  time_entry: { verbs: writeVerbs, scope: 'user:time_entries:read' },
};

export const eventScopes: readonly string[] = [...new Set(Object.values(nouns).map(({ scope }) => scope))];

/** Every event there is, `noun.verb`. */
export const eventNames: readonly string[] = Object.entries(nouns).flatMap(([noun, { verbs }]) =>
  verbs.map((verb) => `${noun}.${verb}`),
);

/** The scope that registering this event (or noun) needs; undefined if there is no such event. */
export function scopeOf(event: string): string | undefined {
  if (!eventNames.includes(event) && !Object.hasOwn(nouns, event)) return undefined;
  return nouns[nounOf(event)]?.scope;
}

function nounOf(event: string): string {
  return event.split('.', 1)[0] ?? '';
}

/** Whether a callback registered for `registered` is sent `event`. */
export function isRegisteredFor(registered: string, event: string): boolean {
  return registered === event || registered === nounOf(event);
}

/**
 * The list filter: `noun.verb` matches itself, a noun (also in its plural, as the reference writes it)
 * matches itself and all of its events.
 */
export function filterMatches(filter: string, registered: string): boolean {
  const noun = nounOf(registered);
  return filter === registered || filter === noun || filter === pluralOf(noun);
}

function pluralOf(noun: string): string {
  if (noun.endsWith('y')) return `${noun.slice(0, -1)}ies`;
  return noun.endsWith('x') ? `${noun}es` : `${noun}s`;
}
