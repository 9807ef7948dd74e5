import { expect, it } from 'vitest';
import { errorSentence, withFullStop } from '../../../src/domain/errors.ts';

it.each([
  ['no such table: nosuch', 'no such table: nosuch.'],
  ['The disk is full.', 'The disk is full.'],
  ['What is it?', 'What is it?'],
  ['and so on…', 'and so on…'],
])('%s ends with one full stop', (text, ended) => {
  expect(withFullStop(text)).toBe(ended);
  expect(errorSentence(new Error(text))).toBe(ended);
});
