import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseForm } from '../../../src/webhook/delivery.ts';
import { pythonCases } from '../../support/deliveries/python-cases.ts';

const parse = (body: string | Uint8Array) => parseForm(Buffer.from(body as string));

describe('E3 a form body', () => {
  it.each([
    ['a=%zz%4%', [['a', '%zz%4%']]],
    ['a=ü', [['a', 'ü']]],
    ['a=%EF%BB%BFx', [['a', '\ufeffx']]],
    ['', []],
  ])('is parsed from its bytes: %j', (body, pairs) => {
    expect(parse(body)).toEqual(pairs);
  });

  it.each(['a=%FF', 'a=%C3', '%ED%A0%80=1', 'a=%C0%AF', 'a=%F5%80%80%80'])(
    'is refused if it is not UTF-8: %j',
    (body) => {
      expect(parse(body)).toBeUndefined();
      expect(parse(Buffer.from([0x61, 0x3d, 0xff]))).toBeUndefined();
    },
  );

  it('written by Python is parsed as Python does', () => {
    for (const { body, pairs } of pythonCases) expect(parse(body)).toEqual(pairs);
  });

  it('is parsed as the URL standard says', () => {
    // Node's own parser errs where a bare % stands before what is not ASCII.
    const part = fc.constantFrom(...'abc=&+%2fF3 ;[]'.split(''), '%C3%BC', '%41', '%0A', '%');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
        const body = parts.join('');
        fc.pre(parse(body) !== undefined);
        expect(parse(body)).toEqual([...new URLSearchParams(body)]);
      }),
    );
  });
});
