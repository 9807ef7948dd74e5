/** Secrets that can be told again in whatever form they come, and a search for them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What base64 makes of the secret wherever it stands in a longer text: without the digits at its edges. */
function base64Within(secret: string): string[] {
  return [0, 1, 2].map((before) => {
    const digits = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]).toString('base64');
    const whole = Math.floor(((before + secret.length) * 8) / 6);
    return digits.slice(Math.ceil((before * 8) / 6), whole);
  });
}

function spellings(secret: string): string[] {
  const hex = Buffer.from(secret).toString('hex');
  const base64 = base64Within(secret);
  const url = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [secret, encodeURIComponent(secret), hex, hex.toUpperCase(), ...base64, ...url];
}

/** A text that was told, under the name it goes by in a failure. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** Where which secret stands, in any spelling; by their names, so that a failure shows none. */
export function leaks(told: readonly NamedText[], secrets: Readonly<Record<string, string>>): string[] {
  return told.flatMap(({ name, text }) =>
    Object.entries(secrets)
      .filter(([, secret]) => spellings(secret).some((spelling) => text.includes(spelling)))
      .map(([secret]) => `${secret} in ${name}`),
  );
}

/** Everything in a folder, byte for byte, but for the settings and the file of secrets with what SQLite lays beside it. */
export function artefacts(folder: string): NamedText[] {
  return readdirSync(folder)
    .filter((name) => name !== 'mirror.yaml' && !name.startsWith('secrets.db'))
    .map((name) => ({ name, text: readFileSync(join(folder, name), 'latin1') }));
}
