/** Finds the signature header: its name contains the name of the service. */

const pattern = /^x-.+-hmac-sha256$/;

/**
 * The value of the signature header; undefined unless there is exactly one.
 * @param setting `service.signatureHeader`: the name of the header, or `auto` to detect it
 */
export function signatureIn(headers: NodeJS.Dict<string[]>, setting: string): string | undefined {
  const names =
    setting === 'auto' ? Object.keys(headers).filter((name) => pattern.test(name)) : [setting.toLowerCase()];
  const values = names.flatMap((name) => headers[name] ?? []);
  return values.length === 1 ? values[0] : undefined;
}
