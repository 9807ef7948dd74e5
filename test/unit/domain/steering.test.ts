import { expect, it } from 'vitest';
import { jsonAnswer } from '../../../src/admin/api/answers.ts';
import { jsonText } from '../../../src/domain/steering.ts';
import { cellsWithoutBlobs } from '../../../src/store/sqlite/blobs.ts';

const all = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).join('');

it('L62 JSON shows every character that steers a terminal as an escape, and means the same', () => {
  for (const indent of [undefined, 2]) {
    const text = jsonText({ [all]: [all, '\ud800', 1] }, indent);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
    expect(JSON.parse(text)).toEqual({ [all]: [all, '\ud800', 1] });
    expect(text).toContain('\\u202e');
  }
});

it('L62 answers of the API are such JSON', () => {
  const { body } = jsonAnswer({ vendor_name: 'evil\u202efdp.exe\u009b2J' });
  expect(body).toContain('evil\\u202efdp.exe\\u009b2J');
});

it('L63 a blob that no text can show is refused as a fault of the query', () => {
  const blob = Buffer.allocUnsafeSlow(300_000_000);
  expect(() => cellsWithoutBlobs([blob])).toThrow('The query cannot be used: a value of it is too large.');
  expect(cellsWithoutBlobs([blob.subarray(0, 2).fill(1)])).toEqual(["x'0101'"]);
});
