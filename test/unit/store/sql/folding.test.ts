import { expect, it } from 'vitest';
import { foldedText } from '../../../../src/store/sql/folding.ts';

it.each([
  ['Işık', 'isik'],
  ['IŞIK', 'isik'],
  ['İstanbul', 'istanbul'],
  ['Łódź', 'lodz'],
  ['Straße', 'strasse'],
  ['STRAẞE', 'strasse'],
  ['Ærøskøbing', 'aeroskobing'],
  ['Œuvres', 'oeuvres'],
  ['Þórður', 'thordur'],
  ['Đorđe', 'dorde'],
  ['Müller', 'muller'],
  ['ﬁn', 'fin'],
  ['ΟΔΟΣ', 'οδος'],
])('%s is found as %s', (text, folded) => {
  expect(foldedText(text)).toBe(folded);
});
