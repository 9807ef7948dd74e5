import { expect, it } from 'vitest';
import { IntegrityCheck } from '../../../src/app/maintenance.ts';
import { silentLog } from '../../../src/domain/log.ts';
import { testbed } from '../../support/testbed.ts';

it('K50 has started, so that the services after it can, long before the file is checked', async () => {
  const { database: path } = await testbed({ level: 'account' });
  const check = new IntegrityCheck({ path, reason: 'a test', log: silentLog, onFatal: () => undefined });
  await check.start();
  expect(check.passed).toBe(false);
  await check.stop();
});
