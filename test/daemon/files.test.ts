/** A file that is taken away from under a running daemon. */
import { renameSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { livingHouse } from './house.ts';

it.each<[string, (path: string) => void]>([
  ['deleted', (path) => rmSync(path)],
  ['moved', (path) => renameSync(path, `${path}.moved`)],
])('F9 the mirror %s while it is in use: within a minute going on is called wrong', async (_, take) => {
  const at = await livingHouse();
  await at.clock.pass(60_000);
  expect(at.fatal).toEqual([]);
  take(at.settings.database);
  await at.clock.pass(60_000);
  expect(at.fatal).toMatchObject([
    {
      code: 'database_unusable',
      message: expect.stringContaining('was moved or deleted while it was in use') as unknown,
    },
  ]);
  expect(at.fatal[0]?.exit).toBe(74);
});
