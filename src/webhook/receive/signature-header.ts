/** Finds the signature header: its name contains the name of the service. */

const pattern = /^x-.+-hmac-sha256$/i;

/**
 * The value of the signature header; undefined unless there is exactly one.
 * @param headers names and values in turn, as they were received
 * @param setting `service.signatureHeader`: the name of the header, or `auto` to detect it
 */
export function signatureIn(headers: readonly string[], setting: string): string | undefined {
  const wanted = setting.toLowerCase();
  const isSignature = (name: string): boolean =>
    setting === 'auto' ? pattern.test(name) : name.toLowerCase() === wanted;
  const values = headers.filter((_, index) => index % 2 === 1 && isSignature(headers[index - 1] ?? ''));
  return values.length === 1 ? values[0] : undefined;
}
