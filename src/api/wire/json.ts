/** Reads values of untrusted JSON, without assuming that they exist or have the expected type. */

/** An own member of an object; undefined where it is missing, or the value is not an object. */
export function member(value: unknown, name: string): unknown {
  return isMap(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function list(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** A whole number from 0, as number or digits; undefined for anything else. */
export function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

/** An id: a whole number from 1 to 2^53-1, as number or as digits without leading zeros; undefined for anything else. */
export function identifier(value: unknown): number | undefined {
  if (typeof value === 'string' && !/^[1-9]\d*$/.test(value)) return undefined;
  const number = wholeNumber(value);
  return number === 0 ? undefined : number;
}

/** Text, null, or a number as text; undefined for anything else. NUL and lone surrogates are removed. */
export function text(value: unknown): string | null | undefined {
  if (value === null) return null;
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return undefined;
  const clean = value.includes('\0') ? value.replaceAll('\0', '') : value;
  return clean.isWellFormed() ? clean : clean.toWellFormed();
}

/** A boolean in any observed spelling: true, "true", 1, "1" and their opposites; undefined for anything else. */
export function truth(value: unknown): boolean | undefined {
  if (value === true || value === 1 || value === 'true' || value === '1') return true;
  if (value === false || value === 0 || value === 'false' || value === '0') return false;
  return undefined;
}

/** JSON text with sorted keys, so that equal values have equal texts. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isMap(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}
