/** What pages confirmed is kept for as long as an older reading may still arrive. */
import { expect, it } from 'vitest';
import { Confirmations } from '../../../src/store/page-confirmations.ts';
import { newPath, openDatabase } from '../../support/mirror-file.ts';

it('K24 is removed once there are 10,000 later readings, for many readings at a time', async () => {
  const { sqlite } = await openDatabase(newPath());
  const confirmations = new Confirmations(sqlite);
  const kept = (): unknown[] => sqlite.prepare('SELECT read_seq FROM _page_confirmations').pluck().all();
  for (const readSeq of [1, 400, 10_400, 11_399]) confirmations.add('one', readSeq, [7]);
  expect(kept()).toEqual([400, 10_400, 11_399]);
  expect(confirmations.hasLater({ account_id: 'one', vendorid: 7 }, 10_400)).toBe(true);
  confirmations.add('one', 11_400, [8]);
  expect(kept()).toEqual([10_400, 11_399, 11_400]);
});
