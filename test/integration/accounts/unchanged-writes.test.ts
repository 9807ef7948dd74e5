/** What a reconciliation that finds nothing new costs: with thousands of accounts, almost all of them are such. */
import { expect, it, vi } from 'vitest';
import { SqliteDatabase } from '../../../src/store/sqlite/database.ts';
import { otherConnection } from '../../support/mirror-file.ts';
import { testbed } from '../../support/testbed.ts';

/** Pages of the mirror's journal for one: what is written while the run lasts, its callback check, its gateways and one read by id included. */
const mostPages = 21;

it('K24 an unchanged reconciliation of one page waits for the disk three times, and writes few pages', async () => {
  const at = await testbed({ level: 'daemon', vendors: 40, world: ['noteInList=yes'] });
  await at.untilRuns(2);
  await at.clock.pass(60_000);

  const durable: string[] = [];
  const write = Reflect.get(SqliteDatabase.prototype, 'write');
  const spy = vi.spyOn(SqliteDatabase.prototype, 'write').mockImplementation(function (
    this: SqliteDatabase,
    work: () => unknown,
  ) {
    const counted = async (): Promise<unknown> => {
      const changes = (): unknown => this.sqlite.prepare('SELECT total_changes()').pluck().get();
      const before = changes();
      const result = await work();
      if (changes() !== before) durable.push(this.path);
      return result;
    };
    return write.call(this, counted);
  });
  const journal = otherConnection(at.settings.database);
  const pages = (): number => (journal.pragma('wal_checkpoint(PASSIVE)') as { log: number }[])[0]?.log ?? NaN;
  pages();
  await at.untilRuns();
  await at.clock.pass(60_000);
  spy.mockRestore();

  expect(at.runs.at(-1)).toMatchObject({ outcome: 'complete', counts: { created: 0, updated: 0 } });
  // Its begin, its end, and the vendor that is read by id to find out what lists leave out.
  expect(durable).toEqual(Array<string>(3).fill(at.settings.database));
  expect(pages()).toBeLessThanOrEqual(mostPages);
});
