import { Driver } from '../../../../src/store/sqlite/driver-package.ts';
import fc from 'fast-check';
import fs, { chmodSync, readFileSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemRandom } from '../../../../src/domain/clock.ts';
import { copyMirror, exportToFile } from '../../../../src/store/export/write-export.ts';
import { inFormat } from '../../../../src/store/export/formats.ts';
import type { Cell } from '../../../../src/store/export/export-rows.ts';
import { SqliteDatabase } from '../../../../src/store/sqlite/database.ts';
import { replaceFile, replacementFor } from '../../../../src/store/files/replace-file.ts';
import { mirrorOptions } from '../../../../src/store/reader.ts';
import { compiled } from '../../../support/source/compiled.ts';
import {
  balance,
  span,
  migrations,
  readMirror,
  temporaryFolder,
  vendor,
  writeMirror,
} from '../../../support/mirror-file.ts';
import { replaceBuiltin } from '../../../support/source/builtin.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const clock = virtualClock({ auto: true });
const options = {
  random: systemRandom,
  program: compiled.exports,
  own: { secrets: '/nowhere/secrets.db', readFrom: [] },
};

async function mirrorIn(folder: string, names: readonly (string | null)[] = ['Acme']): Promise<SqliteDatabase> {
  const path = join(folder, 'vendors.db');
  await writeMirror(path, clock, {
    vendors: names.map((vendor_name, index) => vendor(index + 1, { vendor_name })),
    vendor_balances: [balance(1, 'outstanding', '5.00', 'USD'), balance(1, 'outstanding', '3.00', 'EUR')],
    _balance_spans: [span(1, 'USD', 500), span(1, 'EUR', 300)],
  });
  return readMirror(path, clock);
}

describe('a copy of the mirror', () => {
  it('F20 is consistent and self-contained while another connection writes', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'vendors.db');
    const reader = await mirrorIn(folder);
    const writer = await SqliteDatabase.open(mirrorOptions({ path, migrations, clock, random: systemRandom }));
    await writer.write(() => writer.sqlite.exec("UPDATE vendors SET vendor_name = 'In the WAL'"));
    writer.sqlite.exec("BEGIN IMMEDIATE; UPDATE vendors SET vendor_name = 'not committed'");
    const target = join(folder, 'copy.db');
    await copyMirror(reader, target, options);
    writer.sqlite.exec('ROLLBACK');
    await writer.close();

    expect(readdirSync(folder).filter((name) => name.includes('copy'))).toEqual(['copy.db']);
    const copy = new Driver(target, { readonly: true });
    expect(copy.pragma('journal_mode', { simple: true })).toBe('delete');
    expect(copy.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(copy.prepare('SELECT vendor_name FROM vendors').pluck().all()).toEqual(['In the WAL']);
    copy.close();
  });

  it('F20 is on disk before it replaces the target, and the rename is on disk before the copy is reported', async () => {
    const folder = temporaryFolder();
    const mirror = await mirrorIn(folder);
    const target = join(folder, 'copy.db');
    const opened = new Map<number, string>();
    const steps: string[] = [];
    const nameOf = (path: unknown): string =>
      path === folder ? 'the folder' : path === target ? 'the place' : 'the draft';
    replaceBuiltin(fs, 'openSync', (open) => (path, ...more) => {
      const handle = open(path, ...more);
      opened.set(handle, nameOf(path));
      return handle;
    });
    replaceBuiltin(fs, 'fsync', (sync) => {
      const noted = (handle: number, callback: fs.NoParamCallback): void => {
        sync(handle, (error) => {
          steps.push(`${opened.get(handle)} is synced`);
          callback(error);
        });
      };
      return noted as typeof sync;
    });
    replaceBuiltin(fs, 'renameSync', (rename) => (from, to) => {
      steps.push(`${nameOf(from)} becomes ${nameOf(to)}`);
      rename(from, to);
    });
    await copyMirror(mirror, target, options);
    expect(steps).toEqual(['the draft is synced', 'the draft becomes the place', 'the folder is synced']);
  });

  it('F17 K42 follows the umask if it is new, and keeps the mode of the file that it replaces', async () => {
    const folder = temporaryFolder();
    const mirror = await mirrorIn(folder);
    const umask = process.umask(0o077);
    onTestFinished(() => void process.umask(umask));
    const modeOf = async (name: string, before?: number): Promise<number> => {
      const target = join(folder, name);
      if (before !== undefined) {
        writeFileSync(target, 'something older');
        chmodSync(target, before);
      }
      await copyMirror(mirror, target, options);
      return statSync(target).mode & 0o777;
    };
    expect([await modeOf('new.db'), await modeOf('open.db', 0o664), await modeOf('closed.db', 0o600)]).toEqual([
      0o600, 0o664, 0o600,
    ]);
    process.umask(0o022);
    expect([await modeOf('newer.db'), await modeOf('new.db')]).toEqual([0o640, 0o600]);
  });

  it('F20 leaves the old file and nothing else if writing fails halfway', async () => {
    const folder = temporaryFolder();
    const mirror = await mirrorIn(folder);
    const target = join(folder, 'copy.db');
    writeFileSync(target, 'the old copy');
    const failing = replaceFile(target, replacementFor(mirror, target, options), (handle) => {
      writeFileSync(handle, 'half a');
      throw new Error('the disk is gone');
    });
    await expect(failing).rejects.toMatchObject({
      code: 'file_unwritable',
      message: expect.stringContaining('disk is gone') as string,
    });
    expect(readFileSync(target, 'utf8')).toBe('the old copy');
    expect(readdirSync(folder).sort()).toEqual(['copy.db', 'vendors.db']);
  });

  it.each([
    ['ENOSPC', 'disk_full', 'its disk is full.', /^Free space on the disk that holds \//],
    ['EROFS', 'file_unwritable', 'EROFS: no.', /^Mount the file system/],
  ])(
    'says of %s what is wrong with the place where it was to be, and what to do there',
    async (code, is, why, remedy) => {
      const target = join(temporaryFolder(), 'copy.csv');
      const failing = replaceFile(target, { random: systemRandom, isSecret: false, refuse: () => undefined }, () => {
        throw Object.assign(new Error(`${code}: no`), { code });
      });
      await expect(failing).rejects.toMatchObject({
        code: is,
        message: `${target} cannot be written: ${why}`,
        remedy: expect.stringMatching(remedy) as string,
      });
    },
  );

  it('F20 removes what killed processes left, but not what may still be written', async () => {
    const folder = temporaryFolder();
    const mirror = await mirrorIn(folder);
    const leave = (name: string, hours: number): string => {
      writeFileSync(join(folder, name), 'half a');
      const then = Date.now() / 1_000 - hours * 3_600;
      utimesSync(join(folder, name), then, then);
      return name;
    };
    leave('.copy.db.0123456789ab', 2);
    leave('.copy.db.0123456789ab-journal', 2);
    const others = [
      leave('.copy.db.ba9876543210', 0.5),
      leave('.copy.db.notes', 2),
      leave('.other.db.0123456789ab', 2),
    ];
    await copyMirror(mirror, join(folder, 'copy.db'), options);
    expect(readdirSync(folder).sort()).toEqual([...others, 'copy.db', 'vendors.db'].sort());
  });

  it.each([
    ['its own name', (database: string) => database],
    ['the name of its journal', (database: string) => `${database}-wal`],
    [
      'a symbolic link',
      (database: string, folder: string) => (symlinkSync(database, join(folder, 'link.db')), join(folder, 'link.db')),
    ],
    [
      'a roundabout path',
      (_database: string, folder: string) => join(folder, '..', folder.split('/').at(-1) ?? '', 'vendors.db'),
    ],
  ])('F19 never replaces the mirror under %s', async (_, nameOf) => {
    const folder = temporaryFolder();
    const mirror = await mirrorIn(folder);
    const before = readFileSync(mirror.path);
    const target = nameOf(mirror.path, folder);
    await expect(copyMirror(mirror, target, options)).rejects.toMatchObject({ code: 'usage' });
    expect(readFileSync(mirror.path).equals(before)).toBe(true);
  });
});

describe('a spreadsheet of the mirror', () => {
  /** Rows as the view begins them. */
  async function csvOfNamed(names: readonly string[]): Promise<string> {
    // eslint-disable-next-line @typescript-eslint/require-await -- rows come in turns
    async function* rows(): AsyncGenerator<readonly Cell[]> {
      yield* names.map((name, index) => ['6BApk', BigInt(index + 1), name, 0n]);
    }
    const columns = ['account_id', 'vendorid', 'vendor_name', 'vis_state'].map((name) => ({ name, type: null }));
    return await text(inFormat({ columns, rows: rows() }, 'csv').bytes);
  }

  it('contains the view vendor_overview, with a header and a byte order mark', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'overview.csv');
    await exportToFile(await mirrorIn(folder, ['Acme, Inc.']), path, {}, options);
    const [heading, ...rows] = readFileSync(path, 'utf8').split('\r\n');
    expect(heading).toMatch(/^\ufeffaccount_id,vendorid,vendor_name,state,currency,outstanding,overdue,/);
    expect(rows.sort()).toEqual([
      '',
      expect.stringMatching(/^6BApk,1,"Acme, Inc\.",active,EUR,3\.?0*,/),
      expect.stringMatching(/^6BApk,1,"Acme, Inc\.",active,USD,5\.?0*,/),
    ]);
  });

  it.each([
    '=1+1',
    '+1+1',
    '-1-1',
    '@sum',
    '\tx',
    '\rx',
    ' =1',
    '\n=1',
    '\u00a0@sum',
    '＝1',
    '+1-555-0100',
    '-5.00 EUR; =1',
    '+1 A1',
    '+1 - 555',
    '+1-(555)-2',
    '+1 (555) SUM(A1)',
    '-',
    '+',
    '-1 EUR!A1',
    '+1 2|x',
  ])('gives %j a leading apostrophe', async (name) => {
    const cell = `'${name.replace(/(?<=[;\n]) ?=/, "'$&")}`;
    expect(await csvOfNamed([name])).toContain(`6BApk,1,${/[\r\n\t;]|^\+/.test(name) ? `"${cell}"` : cell},0`);
  });

  it.each([
    ['Acme;=1+1', `"Acme;'=1+1"`],
    ['Acme\t=1+1', `"Acme\t'=1+1"`],
    ['Acme, @sum', `"Acme,' @sum"`],
    ['Acme\n+1+1', `"Acme\n'+1+1"`],
    ['Acme\r\n\t -1-1;=2', `"Acme\r\n\t' -1-1;'=2"`],
    ['Acme;"=1+1"', `"Acme;'""=1+1"""`],
    ['Acme;＝1', `"Acme;'＝1"`],
    ['Acme; +49 (30) 1234', '"Acme; +49 (30) 1234"'],
    ['-5.00 EUR; -3.10 USD', '"-5.00 EUR; -3.10 USD"'],
    ['Acme; Sons', '"Acme; Sons"'],
    ['Acme;-5,5*A1', `"Acme;'-5,5*A1"`],
    ['Acme;-5\t*A1', `"Acme;'-5\t*A1"`],
    ['-5,5*A1', `"'-5,5*A1"`],
    ['-5\n-3', `"'-5\n-3"`],
    ['Fax\n+49 30 1234\nTel\r\n+49 30 1235', '"Fax\n+49 30 1234\nTel\r\n+49 30 1235"'],
  ])('L56 begins a cell after a separator inside %j', async (name, cell) => {
    expect(await csvOfNamed([name])).toContain(`6BApk,1,${cell},0`);
  });

  it.each([',', ';', '\t'])('L56 has no formula for a spreadsheet that separates cells by %j', async (separator) => {
    const part = fc.oneof(
      fc.constantFrom('=1', '+a', '-', '@b', '-5.00', '*A1', ';', ',', '\t', '\n', '"', ' ', "'", 'x', '＝'),
      invisible,
    );
    const names = fc.array(
      fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join('')),
      { minLength: 1, maxLength: 3 },
    );
    await fc.assert(
      fc.asyncProperty(names, async (texts) => {
        const cells = imported((await csvOfNamed(texts)).slice(1), separator);
        const harmless = /^\s*[+-]\d[-\d.,; ]*(?:",0)?$/;
        const shown = cells.map((cell) => cell.replace(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, ''));
        expect(shown.filter((cell) => /^\s*[=+\-@＝]/.test(cell) && !harmless.test(cell))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('L56 has no formula, tab or carriage return behind what is invisible', async () => {
    const beginning = fc.array(invisible, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(''));
    const formula = fc.constantFrom('=1+1', '=HYPERLINK("http://x")', '+1+1', '-1-1', '@SUM(1)', '＝1');
    const separated = fc.constantFrom('Acme;', 'Acme,', 'Acme\t', 'Acme\r\n', 'Acme\u0085', 'Acme\u2028', 'Acme\v');
    const name = fc.oneof(
      fc.tuple(fc.constant(''), beginning, fc.oneof(formula, fc.constantFrom('\tx', '\rx'))),
      fc.tuple(separated, beginning, formula),
    );
    await fc.assert(
      fc.asyncProperty(name, async ([before, blank, rest]) => {
        const written = parseCsv((await csvOfNamed([before + blank + rest])).slice(1))[1]?.[2] ?? '';
        expect(written.endsWith(rest)).toBe(true);
        expect(written.slice(before.length, -rest.length)).toContain("'");
        expect(written.replaceAll("'", '')).toBe(before + blank + rest);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['digits', `+${'1'.repeat(200_000)}!`],
    ['blanks', `+1${' '.repeat(200_000)}!`],
    ['amounts', `=;${'-5;'.repeat(200_000)}`],
  ])('L65 are written at once though a name has 200,000 %s', async (_, name) => {
    expect(await csvOfNamed([name])).toContain(`'${name.slice(0, 2)}`);
  });

  it.each(['0042', '12345678901234567890', '2026-11-29', '01/02/2026', '1e5', 'TRUE', '5%'])(
    'L56 writes %s as it is, whatever a spreadsheet makes of it',
    async (name) => {
      expect(await csvOfNamed([name])).toContain(`6BApk,1,${name},0`);
    },
  );

  it.each([
    ['+49 30 1234', '"+49 30 1234"'],
    ['\u202a+49 30 1234\u202c', '\u202a+49 30 1234\u202c'],
    ['+1 (555) 010.22', '"+1 (555) 010.22"'],
    ['-5.00', '-5.00'],
    ["O'Neil", "O'Neil"],
    ['+49 221 5550-123', '"+49 221 5550-123"'],
    ['+1 (212) 555-0123', '"+1 (212) 555-0123"'],
    ['+1 212 555-0123 ext. 7', '"+1 212 555-0123 ext. 7"'],
    ['+49 (0)221/5550 123', '"+49 (0)221/5550 123"'],
    ['+33\u00a01\u00a099\u202f00–10', '"+33\u00a01\u00a099\u202f00–10"'],
    ['+492215550123', '"+492215550123"'],
    ['＋81 3 5550 0123', '＋81 3 5550 0123'],
    ['-5', '-5'],
    [' -5.00 ', ' -5.00 '],
    ['-1,234.50', '"-1,234.50"'],
    ['-5.00 EUR', '-5.00 EUR'],
    ['-5.00 EUR; 3.10 USD', '"-5.00 EUR; 3.10 USD"'],
    ['-1.5e-7', '-1.5e-7'],
  ])('L86 leaves %j unchanged, because it is not a formula', async (name, cell) => {
    expect(await csvOfNamed([name])).toContain(`6BApk,1,${cell},0`);
  });

  it('is read back unchanged, whatever the names', async () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
    const awkward = fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', ' ', 'x'), maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(name, awkward), { minLength: 1, maxLength: 5 }), async (names) => {
        const stored = names.map((text) => text.replaceAll('\0', '').toWellFormed());
        const rows = parseCsv((await csvOfNamed(stored)).slice(1)).slice(1);
        for (const [nth, row] of rows.entries()) {
          const [written, before] = [row[2] ?? '', stored[nth] ?? ''];
          expect(/[=+\-@＝＋－＠\t\r]/.test(before) ? withoutApostrophes(written, before) : written).toBe(before);
        }
      }),
      { numRuns: 25 },
    );
  });
});

/** What shows nothing at the beginning of a text. */
const invisible = fc
  .constantFrom(
    ...[0x200b, 0x2060, 0xad, 0x200e, 0x200f, 0x202a, 0x202e, 0x2066, 0x61c, 0x1, 0x1f, 0x7f, 0x85, 0x9f],
    ...[0x115f, 0x3164, 0xfe0f, 0xfeff, 0xe0020],
  )
  .map((code) => String.fromCodePoint(code));

/** The text without the apostrophes that the stored one does not have. */
function withoutApostrophes(written: string, stored: string): string {
  let text = '';
  for (const character of written) if (character !== "'" || stored.startsWith("'", text.length)) text += character;
  return text;
}

/** The cells, as spreadsheets read them: a quote counts at the beginning of a cell alone, and what follows the closing one is of the cell, too. */
function imported(text: string, separator: string): string[] {
  const cell = new RegExp(`(?:"((?:[^"]|"")*)(?:"|$))?([^${separator}\\r\\n]*)(?:${separator}|\\r\\n|\\r|\\n|$)`, 'gy');
  const cells: string[] = [];
  for (let match = cell.exec(text); match && cell.lastIndex < text.length; match = cell.exec(text))
    cells.push((match[1]?.replaceAll('""', '"') ?? '') + (match[2] ?? ''));
  return cells;
}

/** RFC 4180, read the plain way. */
function parseCsv(text: string): string[][] {
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  const rows: string[][] = [[]];
  for (let match = cell.exec(text); match; match = cell.exec(text)) {
    rows.at(-1)?.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] === '\r\n') rows.push([]);
  }
  return rows.slice(0, -1);
}
