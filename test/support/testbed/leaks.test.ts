import { closeSync, openSync } from 'node:fs';
import { createServer } from 'node:http';
import { afterAll, describe, it } from 'vitest';
import { isMissing } from '../needed.ts';
import { testbed } from '../testbed.ts';

describe('a testbed fails the test that used it', () => {
  const closing: (() => void)[] = [];
  afterAll(() => {
    for (const close of closing) close();
  });

  it('where the test leaves a server open', { fails: true }, async () => {
    await testbed({ level: 'store' });
    const server = createServer().listen(0);
    closing.push(() => void server.close());
  });

  it.skipIf(isMissing(process.platform === 'linux' ? undefined : 'only Linux lists open files'))(
    'where the test leaves a file of the testbed open',
    { fails: true },
    async () => {
      const { mirror } = await testbed({ level: 'store' });
      const file = openSync(mirror.path, 'r');
      closing.push(() => closeSync(file));
    },
  );
});
