import { describe, expect, it } from 'vitest';
import { textWithoutMembers, withoutMembers } from '../../../src/domain/json-cursor.ts';
import { MirrorError } from '../../../src/domain/errors.ts';
import { seededRandom } from '../../../src/sandbox/core/random.ts';

const names = new Set(['phone', 'note']);

describe('an object without some of its members', () => {
  it.each([
    ['the first', '{"phone": "1", "city": "Rome"}', '{"city": "Rome"}'],
    ['the last', '{ "city" : "Rome" , "phone": "1" }', '{ "city" : "Rome" }'],
    ['one in between', '{"a":1,"phone":"1","b":2}', '{"a":1,"b":2}'],
    ['two neighbours', '{"a":1,"phone":"1", "note":null,"b":2}', '{"a":1,"b":2}'],
    ['all of them', '{"note":{"deep":[1,2]},"phone":"1"}', '{}'],
    ['one that came twice', '{"phone":"1","a":0.10,"phone":"2"}', '{"a":0.10}'],
    ['one whose key is spelled with escapes', String.raw`{"ph\u006fne":"1","a":1}`, '{"a":1}'],
    ["none that is another object's own", '{"a":{"phone":"1"},"b":["phone"]}', '{"a":{"phone":"1"},"b":["phone"]}'],
    ['values that hold brackets, quotes and commas', String.raw`{"note":"},\"{[","a":"}"}`, '{"a":"}"}'],
  ])('leaves %s out, and everything else unchanged', (_, json, left) => {
    expect(textWithoutMembers(json, names)).toBe(left);
  });

  it('has the same bytes if there is nothing to leave out', () => {
    const bytes = Buffer.from('{"a":1}');
    expect(withoutMembers(bytes, names)).toBe(bytes);
  });

  it('equals the parsed text without those members, whatever the order and spacing', () => {
    const random = seededRandom(24);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random.fraction() * from.length)]!;
    for (let round = 0; round < 500; round += 1) {
      const keys = ['phone', 'note', 'city', 'n\u00e4me', 'x'].filter(() => random.fraction() < 0.6);
      const member = (key: string): string =>
        `${pick(['', ' ', '\n'])}${JSON.stringify(key)}${pick(['', ' '])}:${pick(['1', '"a,b"', '[1, {"phone": 2}]', 'null'])}${pick(['', ' '])}`;
      const json = `{${keys.map(member).join(',')}${pick(['', ' '])}}`;
      const expected = Object.entries(JSON.parse(json) as object).filter(([key]) => !names.has(key));
      expect(JSON.parse(textWithoutMembers(json, names))).toEqual(Object.fromEntries(expected));
    }
  });

  it.each(['[1]', '{"a" 1}', '{"phone": "1"', 'null'])('refuses what is not a complete object: %s', (json) => {
    expect(() => textWithoutMembers(json, names)).toThrow(MirrorError);
  });
});
