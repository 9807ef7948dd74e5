/** Whether this is `npm test`, which tries a few of what `npm run test:proofs` tries often. */
export function isFew(): boolean {
  return Boolean(process.env['FEW']);
}

/**
 * A number from the environment variable `name`, such as how many cases to try or from which seed; else the default.
 * @param few the default of `npm test`
 * @throws Error if it is not a number.
 */
export function asked(name: string, usual: number, few = usual): number {
  const text = process.env[name];
  if (text === undefined) return isFew() ? few : usual;
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`${name}=${text} proves nothing: it must be a whole number from 1.`);
  return Number(text);
}
