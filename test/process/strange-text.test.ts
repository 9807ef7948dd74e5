/** Text that breaks readers, from the bytes of a real answer to what readers of the file are shown. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { isMissing } from '../support/needed.ts';
import { httpProxy } from '../support/network/http-proxy.ts';
import { hurried } from '../support/testbed/program.ts';
import { askShell, hasShell } from '../support/mirror/readers.ts';

const hasPython = spawnSync('python3', ['-c', 'import sqlite3']).status === 0;

/** As a reporting tool does: every text is decoded, and one that is no UTF-8 ends the program. */
const python = `
import json, sqlite3, sys
rows = sqlite3.connect('file:' + sys.argv[1] + '?mode=ro', uri=True).execute(sys.argv[2]).fetchall()
for row in rows: json.loads(row[-1])
print(json.dumps(rows))`;
import { testbed } from '../support/testbed.ts';

/** What the service's city is called on the wire, in JSON; and in the mirror's column and its raw record. */
const cities: [title: string, wire: string, column: string, raw: string][] = [
  ['half a character, twice', String.raw`A\ud800B\uDFFF`, 'A\ufffdB\ufffd', String.raw`A\ufffdB\ufffd`],
  ['halves in the wrong order', String.raw`\udc00\ud83d`, '\ufffd\ufffd', String.raw`\ufffd\ufffd`],
  ['NUL', String.raw`A\u0000B`, 'AB', String.raw`A\u0000B`],
  ['a whole pair', String.raw`\ud83d\ude00 😀`, '😀 😀', String.raw`\ud83d\ude00 😀`],
  ['a byte order mark within', 'A\ufeffB', 'A\ufeffB', 'A\ufeffB'],
  ['backslashes', String.raw`\\ud800 \\u0000`, String.raw`\ud800 \u0000`, String.raw`\\ud800 \\u0000`],
  ['directions and controls', '\u202eX\u200f\\u0085\\u001b[31m', '\u202eX\u200f\u0085\u001b[31m', ''],
];

/** A service before which every vendor's city is one of those, in turn, and whose answers can be changed further. */
async function strange() {
  const world = await testbed({ level: 'sandbox', vendors: cities.length });
  const how: { spoil: (bytes: Buffer) => Uint8Array } = { spoil: (bytes) => bytes };
  const vendorService = world.sandbox.vendors(world.account);
  const ids = vendorService.all().map(({ vendorid }) => Number(vendorid));
  for (const id of ids) vendorService.restore(id);
  for (const [nth, id] of ids.entries()) vendorService.edit(id, { city: `city-${nth}-` });
  const wired = (text: string): string => text.replaceAll(/city-(\d+)-/g, (_, nth: string) => cities[Number(nth)]![1]);
  const before = await httpProxy(world.baseUrl, { change: (bytes) => how.spoil(Buffer.from(wired(bytes.toString()))) });
  return {
    how,
    ids,
    at: await testbed({ level: 'program', service: { ...world, baseUrl: before.baseUrl }, env: hurried }),
  };
}

const question = 'SELECT vendorid, city, raw FROM vendors ORDER BY vendorid';

describe('text that breaks readers', () => {
  it('A27 is stored as text that every reader can decode, also after a byte order mark, and causes no later change', async () => {
    const { at, how, ids } = await strange();
    how.spoil = (bytes) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
    const run = await at.run('sync');
    expect([run.status, run.stderr]).toEqual([0, expect.not.stringContaining('warning')]);
    const rows = at.query<{ vendorid: number; city: string; raw: string }>(question);
    for (const [nth, [title, , column, raw]] of cities.entries()) {
      const row = rows.find(({ vendorid }) => vendorid === ids[nth]);
      expect(row?.city, title).toBe(column);
      expect(row?.raw, title).toContain(raw);
    }
    expect(JSON.parse((await at.run('sync', '--json')).stdout)).toMatchObject({
      runs: [{ updated: 0, unchanged: 7, outcome: 'complete' }],
    });
    expect(at.query('SELECT count(*) AS n FROM vendor_versions')).toEqual([{ n: cities.length }]);
  });

  it('A27 a page whose bytes are not UTF-8 is refused: nothing of it is stored, and nothing is replaced', async () => {
    const { at, how } = await strange();
    expect((await at.run('sync')).status).toBe(0);
    const before = at.query(question);
    const wrong: [title: string, bytes: number[]][] = [
      ['a Latin-1 letter', [0xe9]],
      ['half a sequence', [0xf0, 0x9f, 0x98]],
      ['a surrogate as UTF-8', [0xed, 0xa0, 0x80]],
      ['an overlong slash', [0xc0, 0xaf]],
      ['a bare continuation', [0x80]],
      ['beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
    ];
    for (const [title, bytes] of wrong) {
      how.spoil = (page) => {
        const within = page.indexOf(String.raw`\ud800B`);
        return within < 0 ? page : Buffer.concat([page.subarray(0, within), Buffer.from(bytes), page.subarray(within)]);
      };
      const run = await at.run('sync');
      expect(run, title).toMatchObject({ status: 69, stderr: expect.stringContaining('UTF-8') as string });
      expect(at.query(question), title).toEqual(before);
    }
    how.spoil = (page) => page;
    expect((await at.run('sync')).status).toBe(0);
    expect(at.query(question)).toEqual(before);
  });

  const missing = hasShell ? (hasPython ? undefined : 'there is no python3') : 'there is no sqlite3';
  it.skipIf(isMissing(missing))('A27 is read by Python and by the sqlite3 shell', async () => {
    const { at, ids } = await strange();
    expect((await at.run('sync')).status).toBe(0);
    const rows = at.query(question).map((row) => Object.values(row));
    const snake = spawnSync('python3', ['-c', python, at.database, question], { encoding: 'utf8' });
    expect(snake.stderr).toBe('');
    expect(JSON.parse(snake.stdout)).toEqual(rows);
    for (const [nth, id] of ids.entries())
      expect(await askShell(at.database, `SELECT hex(city) FROM vendors WHERE vendorid = ${id}`)).toBe(
        Buffer.from(cities[nth]![2]).toString('hex').toUpperCase(),
      );
  });
});
