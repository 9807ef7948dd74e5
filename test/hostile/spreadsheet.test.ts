/** What LibreOffice makes of a `.csv` whose names are formulas, with the separators of several countries. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { vendor } from '../support/mirror-file.ts';
import { isMissing } from '../support/needed.ts';
import { testbed } from '../support/testbed.ts';

const formulas = ['=1+1', '+1+1', '-1-1', '@SUM(1)', '=HYPERLINK("http://evil.example")', '＝1', '-5,5*A1'];
const beginnings = [
  ...['', ' ', '"', 'Acme;', 'Acme,', 'Acme\t', 'Acme\n', 'Acme\r\n\t ', 'Acme;"', "Acme;\t'"],
  ...['\u200b', '\u2060', '\u00ad', '\u200f', '\u202e', '\u001f', '\u0085', 'Acme;\u200b', 'Acme\u2028'],
];
const names = beginnings.flatMap((beginning) => formulas.map((formula) => beginning + formula));

/**
 * The formulas that LibreOffice finds in each file.
 * @param separator as the code of its character; several with a slash
 */
function formulasIn(folder: string, files: readonly string[], separator: string, trims: boolean): string[][] {
  const { status, stderr } = spawnSync(
    'soffice',
    [
      ...['--headless', `-env:UserInstallation=${pathToFileURL(join(folder, 'profile')).href}`],
      ...['--convert-to', 'fods:OpenDocument Spreadsheet Flat XML', '--outdir', folder],
      // In UTF-8, numbers and dates recognized, formulas calculated.
      `--infilter=CSV:${separator},34,76,1,,0,false,true,false,false,${String(trims)},0,true`,
      ...files.map((name) => join(folder, `${name}.csv`)),
    ],
    { encoding: 'utf8' },
  );
  expect(status, stderr).toBe(0);
  return files.map((name) => readFileSync(join(folder, `${name}.fods`), 'utf8').match(/table:formula="[^"]*"/g) ?? []);
}

const missing =
  spawnSync('soffice', ['--version']).status === 0 ? undefined : 'no LibreOffice (libreoffice-calc-nogui)';

it.skipIf(isMissing(missing))(
  'L56 a .csv of names that are formulas has none in LibreOffice, whatever separates cells',
  async () => {
    const at = await testbed({ level: 'command' });
    await at.fill({ vendors: names.map((vendor_name, nth) => vendor(nth + 1, { vendor_name })) });
    const fileOf = (name: string): string => join(at.folder, `${name}.csv`);
    expect((await at.run('export', fileOf('overview'))).status).toBe(0);
    expect((await at.run('export', fileOf('names'), '--query', 'SELECT vendor_name FROM vendors')).status).toBe(0);
    writeFileSync(fileOf('unprotected'), `a,b\r\n${names.join(',x\r\n')}`);
    const settings = [
      ['44', false],
      ['59', true],
      ['9', false],
      ['44/59/9', true],
    ] as const;
    for (const [separator, trims] of settings) {
      const files = ['overview', 'names', 'unprotected'];
      const [overview, query, unprotected] = formulasIn(at.folder, files, separator, trims);
      expect([overview, query]).toEqual([[], []]);
      expect(unprotected?.length).toBeGreaterThan(0);
    }
  },
);
