import { describe, expect, it } from 'vitest';
import { testbed, type Testbed } from '../../../support/testbed.ts';
import { account } from '../../../support/testbed/store.ts';

const hour = 3_600_000;

async function openedTestbed(): Promise<Testbed<'store'>> {
  const at = await testbed({ level: 'store' });
  await at.mirror.addAccounts([account], { accounts: [account], settingsFile: 'settings' });
  return at;
}

async function runBegins(at: Testbed<'store'>): Promise<void> {
  await at.mirror.beginRun({ accountId: account, kind: 'reconcile', trigger: 'schedule' });
}

describe('the run before a reading, from which something is known for certain', () => {
  it('is the one that began last, although a clock that was set back since calls an earlier one later', async () => {
    const at = await openedTestbed();
    at.clocks.wall += 6 * hour;
    await runBegins(at);
    at.clocks.wall -= 5 * hour;
    await runBegins(at);
    const { readSeq } = await at.ask();
    at.clocks.wall += 6 * hour;
    await runBegins(at);
    expect(await at.mirror.runBefore(account, readSeq, at.clocks.wall)).toBe('2026-11-20 13:00:00.000');
  });

  it('B4 is not known where the clock was set back to before that run', async () => {
    const at = await openedTestbed();
    at.clocks.wall += 6 * hour;
    await runBegins(at);
    const { readSeq } = await at.ask();
    at.clocks.wall -= 5 * hour;
    expect(await at.mirror.runBefore(account, readSeq, at.clocks.wall)).toBeUndefined();
  });
});
