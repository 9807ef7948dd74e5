/** Whether a value, such as one of JSON or YAML, is a map of keys to values. */
export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
