import { describe, expect, it } from 'vitest';
import { readDelivery } from '../../../src/webhook/delivery.ts';
import type { Pairs } from '../../../src/webhook/delivery.ts';

const needed: Pairs = [
  ['name', 'bill_vendor.create'],
  ['object_id', '1001'],
  ['account_id', '6BApk'],
];
const read = (pairs: Pairs) => readDelivery(pairs);
const object = (id: string) =>
  read([
    ['name', 'bill_vendor.x'],
    ['object_id', id],
    ['account_id', 'a'],
  ]);

describe('reading a delivery', () => {
  it('C17 requires name and account_id, and nothing else', () => {
    expect(read(needed)).toEqual({
      name: 'bill_vendor.create',
      accountId: '6BApk',
      objectId: 1001,
      businessId: null,
      identityId: null,
      userId: null,
    });
    for (const name of ['name', 'account_id']) expect(read(needed.filter(([other]) => other !== name))).toBeUndefined();
    expect(read(needed.filter(([name]) => name !== 'object_id'))).toMatchObject({ objectId: null });
    expect(read(needed.map(([name, value]) => [name, name === 'object_id' ? '' : value]))).toMatchObject({
      objectId: null,
    });
    expect(read(needed.map(([name, value]) => [name, name === 'name' ? '' : value]))).toBeUndefined();
  });

  it('C17 accepts unknown parameters, and ids of people if they are numbers', () => {
    expect(
      read([...needed, ['business_id', '5'], ['user_id', 'x'], ['identity_id', '-1'], ['origin', 'ü']]),
    ).toMatchObject({ businessId: 5, userId: null, identityId: null });
    expect(read([...needed, ['user_id', '7'], ['identity_id', '6']])).toMatchObject({ userId: 7, identityId: 6 });
  });

  it('C18 refuses repeated keys, and more than 32', () => {
    expect(read([...needed, ['name', 'bill_vendor.create']])).toBeUndefined();
    expect(read([...needed, ['a[]', '1'], ['a[]', '2']])).toBeUndefined();
    const more = (count: number): Pairs => Array.from({ length: count }, (_, index) => [`k${index}`, '']);
    expect(read([...needed, ...more(29)])).toBeDefined();
    expect(read([...needed, ...more(30)])).toBeUndefined();
  });

  it.each([
    '',
    '0',
    '-1',
    '+1',
    '1.5',
    '1e3',
    '01',
    ' 1',
    '9007199254740992',
    '9'.repeat(40),
    'abc',
    '１',
    '../1',
    'NaN',
  ])('H7 an object_id of %j is not a vendor id', (id) => {
    expect(object(id)?.objectId).toBeNull();
  });

  it.each([
    ['1', 1],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ])('an object_id of %j is a vendor id', (id, number) => {
    expect(object(id)?.objectId).toBe(number);
  });

  it('removes NUL from the name', () => {
    expect(read([['name', 'a\0b'], ...needed.slice(1)])?.name).toBe('ab');
  });
});
