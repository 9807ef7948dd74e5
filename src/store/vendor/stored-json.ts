/** The JSON of a vendor as it is stored, which may be damaged. */

/** The received JSON, plus stored fields that it leaves out and that are not excluded. Damaged stored JSON is replaced. */
export function mergedRaw(stored: string, received: string, excluded?: ReadonlySet<string>): string {
  const before = storedObject(stored);
  const now = JSON.parse(received) as Record<string, unknown>;
  const left = Object.keys(before).filter((name) => !Object.hasOwn(now, name) && !excluded?.has(name));
  if (left.length === 0) return received;
  return JSON.stringify({ ...now, ...Object.fromEntries(left.map((name) => [name, before[name]])) });
}

/** The fields that the stored JSON does not contain. */
export function fieldsNotIn(stored: string, fields: readonly string[]): string[] {
  const before = storedObject(stored);
  return fields.filter((field) => !Object.hasOwn(before, field));
}

/** Stored JSON that is valid; an empty object in place of damaged JSON. */
export function repairedRaw(stored: string): string {
  return parsedObject(stored) ? stored : '{}';
}

/** The members of stored JSON; none where it is damaged. */
export function storedObject(json: string): Record<string, unknown> {
  return parsedObject(json) ?? {};
}

function parsedObject(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
