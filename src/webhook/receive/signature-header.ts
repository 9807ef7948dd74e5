/** Which header holds the signature: the service's name stands in the middle of its own. */

const pattern = /^x-.+-hmac-sha256$/;

/**
 * The signature's text; undefined unless there is exactly one.
 * @param setting `service.signatureHeader`: the name of the header, or `auto` for the one that looks like it.
 */
export function signatureIn(headers: NodeJS.Dict<string[]>, setting: string): string | undefined {
  const names =
    setting === 'auto' ? Object.keys(headers).filter((name) => pattern.test(name)) : [setting.toLowerCase()];
  const values = names.flatMap((name) => headers[name] ?? []);
  return values.length === 1 ? values[0] : undefined;
}
