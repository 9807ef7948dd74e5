/** A number from the environment variable `name`, such as how many cases to try or from which seed; else the default. @throws Error if it is not a number. */
export function asked(name: string, usual: number): number {
  const text = process.env[name];
  if (text === undefined) return usual;
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`${name}=${text} proves nothing: it must be a whole number from 1.`);
  return Number(text);
}

/** With how many cases a property is tried: as many as usual, or a fifth of them in `npm run test:quick`. */
export function cases(usual: number): number {
  return process.env['QUICK'] ? Math.ceil(usual / 5) : usual;
}
