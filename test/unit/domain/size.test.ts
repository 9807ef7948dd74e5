import { expect, it } from 'vitest';
import { sizeInWords } from '../../../src/domain/size.ts';

it.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [1_024, '1 kB'],
  [64 * 2 ** 20 - 1, '64 MB'],
  [73_227.7 * 2 ** 20, '71.5 GB'],
  [999.6 * 2 ** 20, '0.976 GB'],
  [12_345 * 2 ** 40, '12300 TB'],
])('%i bytes are told as %s', (bytes, words) => {
  expect(sizeInWords(bytes)).toBe(words);
});
