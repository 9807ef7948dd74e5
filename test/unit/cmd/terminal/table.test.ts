import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { rulerFor, wrapped, visible } from '../../../../src/cmd/terminal/text.ts';
import { Table, table, type Column } from '../../../../src/cmd/terminal/table.ts';
import { collector } from '../../../support/testbed/command.ts';

type Row = readonly [name: string, count: number | null];

const columns: readonly Column<Row>[] = [
  { title: 'name', cell: ([name]) => name },
  { title: 'count', right: true, cell: ([, count]) => count },
];

function draw(rows: readonly Row[], width?: number, env: Record<string, string> = { NO_COLOR: '1' }): Promise<string> {
  return table({ stdout: collector(width).stream, env }, columns, rows);
}

describe('table', () => {
  it('aligns wide, combining and joined characters by the cells they take', async () => {
    expect(
      await draw([
        ['Müller', 1],
        ['有限会社', 22],
        ['Cafe\u0301', 333],
        ['👩‍👩‍👧 & Co', null],
      ]),
    ).toMatchInlineSnapshot(`
      "name      count
      Müller        1
      有限会社     22
      Café        333
      👩‍👩‍👧 & Co       –"
    `);
  });

  it('breaks long texts between words, and never a number', async () => {
    expect(await draw([['A name that is far too long', 1_000_000]], 24)).toMatchInlineSnapshot(`
      "name               count
      A name that is   1000000
      far too long"
    `);
  });

  it('leaves out columns by their dropOrder, the lowest first, and cuts no word', async () => {
    const wide: Column<string>[] = [
      { title: 'name', cell: (name) => name },
      { title: 'country', dropOrder: 2, cell: () => 'United Kingdom' },
      { title: 'owed', right: true, dropOrder: 3, cell: () => '1,234.50 GBP' },
      { title: 'changed', dropOrder: 1, cell: () => '3 min ago' },
    ];
    const titles = async (width: number): Promise<string> => {
      const context = { stdout: collector(width).stream, env: { NO_COLOR: '1' } };
      return (await table(context, wide, ['Ernst Handel'])).split('\n')[0] ?? '';
    };
    expect(await Promise.all([80, 50, 35, 20, 8].map(titles))).toEqual([
      'name          country                 owed  changed',
      'name          country                 owed',
      'name                  owed',
      'name',
      'name',
    ]);
  });

  it('prints each row as lines of its own where the columns that stay do not fit', async () => {
    const wide: Column<string>[] = [
      { title: 'target', cell: (name) => name },
      { title: 'waiting', right: true, cell: () => 1_000_000 },
      { title: 'error', cell: () => 'https://hooks.example/a/long/path answered 500.' },
    ];
    const parts = new Table({ stdout: collector(30).stream, env: { NO_COLOR: '1' } }, wide);
    expect(await parts.lines(['hooks.example', 'b'])).toMatchInlineSnapshot(`
      "target   hooks.example
      waiting  1000000
      error    https://hooks.example
               /a/long/path answered
               500.

      target   b
      waiting  1000000
      error    https://hooks.example
               /a/long/path answered
               500."
    `);
    expect(await parts.lines(['c'])).toMatchInlineSnapshot(`
      "
      target   c
      waiting  1000000
      error    https://hooks.example
               /a/long/path answered
               500."
    `);
  });

  it('cuts no word and no number that a terminal has room for', async () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'ü', '有'), minLength: 1, maxLength: 9 });
    const text = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '));
    const rows = fc.array(fc.tuple(text, text, fc.nat(9_999)), { minLength: 1, maxLength: 5 });
    const places: Column<[string, string, number]>[] = [
      { title: 'name', cell: ([name]) => name },
      { title: 'city', cell: ([, city]) => city },
      { title: 'count', right: true, dropOrder: 1, cell: ([, , count]) => count },
    ];
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 26, max: 60 }), async (list, width) => {
        const known = new Set(['name', 'city', 'count', ...list.flat().flatMap((value) => String(value).split(' '))]);
        const shown = await table({ stdout: collector(width).stream, env: { NO_COLOR: '1' } }, places, list);
        expect(shown.split(/\s+/).filter((part) => part !== '' && !known.has(part))).toEqual([]);
      }),
    );
  });

  it('keeps its columns, and lets them grow, if it is printed in parts', async () => {
    const parts = new Table({ stdout: collector().stream, env: {} }, columns);
    expect(await parts.lines([['a', 1]])).toBe('name  count\na         1');
    expect(await parts.lines([['a longer name', 22]])).toBe('a longer name     22');
    expect(await parts.lines([['b', 3]])).toBe('b                  3');
  });

  it('breaks nothing where there is no terminal', async () => {
    const long = 'x y '.repeat(120).trim();
    expect(await draw([[long, 1]])).toContain(long);
  });

  it('is as wide as the terminal at most, whatever it shows', async () => {
    const row = fc.tuple(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.nat(9_999));
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 8 }), fc.integer({ min: 14, max: 60 }), async (rows, width) => {
        const lines = (await draw(rows, width)).split('\n');
        const cells = await rulerFor(lines);
        for (const line of lines) expect(cells(line)).toBeLessThanOrEqual(width);
      }),
    );
  });

  it('is bold only on a terminal without NO_COLOR', async () => {
    expect(await draw([['a', 1]], 80, {})).toContain('\u001b[1m');
    expect(await draw([['a', 1]], 80, { NO_COLOR: '1' })).not.toContain('\u001b');
    expect(await draw([['a', 1]], 80, { TERM: 'dumb' })).not.toContain('\u001b');
    expect(await draw([['a', 1]], undefined, {})).not.toContain('\u001b');
  });
});

describe('plain text', () => {
  it('H10 a name cannot control the terminal', () => {
    expect(visible('\u001b[2J\u001b]0;owned\u0007\nAcme\u202e\u009b31m\u007f')).toBe(
      '␛[2J␛]0;owned␇␊Acme\\u202e\\u009b31m␡',
    );
  });

  const unit = fc.oneof(fc.nat(0xff), fc.nat(0xffff)).map((code) => String.fromCharCode(code));
  const anyText = fc.array(unit).map((units) => units.join(''));

  it('H10 no text whatever keeps a control character', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(visible(text)).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
        expect(visible(text).isWellFormed()).toBe(true);
      }),
    );
  });

  it('breaks between words, else between characters, never through one', async () => {
    const cells = await rulerFor(['有👩‍👩‍👧']);
    expect(wrapped('有限会社', 5, cells)).toEqual(['有限', '会社']);
    expect(wrapped('👩‍👩‍👧👩‍👩‍👧', 3, cells)).toEqual(['👩‍👩‍👧', '👩‍👩‍👧']);
    expect(wrapped('Ernst Handel & Co', 9, cells)).toEqual(['Ernst', 'Handel &', 'Co']);
    expect(wrapped('fits', 4, cells)).toEqual(['fits']);
    expect(wrapped('at https://a.example/b/c', 18, cells)).toEqual(['at', 'https://a.example/', 'b/c']);
    expect(wrapped('Then run `a b --c d`.', 12, cells)).toEqual(['Then run', '`a b --c d`.']);
  });

  it('measures as string-width does, whatever the text', () => {
    const unit = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 2 }),
      fc.constantFrom(' ', ' ', 'é', 'ß', 'Ж', 'Ω', 'ש', 'e\u0301', '🛠️', '–'),
    );
    return fc.assert(
      fc.asyncProperty(fc.array(unit, { maxLength: 12 }), async (units) => {
        const text = visible(units.join(''));
        expect((await rulerFor([text]))(text)).toBe(stringWidth(text));
      }),
    );
  });
});
