import { describe, expect, it } from 'vitest';
import type { MirrorError } from '../../src/domain/errors.ts';
import { activeDifferences } from '../support/mirror/differences.ts';
import { connectTo } from '../support/network/connect-to.ts';
import { proxyTo, type NetworkFaults } from '../support/network/tcp-proxy.ts';
import { defaultSettings } from '../support/settings.ts';
import { testbed } from '../support/testbed.ts';

/** The program, which reaches a sandbox through a network that a test can break. */
async function behindNetwork() {
  const { sandbox, ...service } = await testbed({ level: 'sandbox', vendors: 60 });
  const network = await proxyTo(service.baseUrl);
  const at = await testbed({
    level: 'program',
    service: { ...service, baseUrl: network.baseUrl },
    settings: 'sync: { lag: 0s }',
  });
  return { at, network, differences: () => activeDifferences({ ...at, sandbox }) };
}

/** Half of a page is never a page. */
const refused = ['service_unreachable', 'answer_unreadable'];

describe('A25 an answer that is cut off', () => {
  it.each(['end', 'reset'] as const)('at any byte, by %s, is no page', async (ending) => {
    const { baseUrl, account, token } = await testbed({ level: 'sandbox', vendors: 5 });
    const network = await proxyTo(baseUrl);
    const { vendors } = connectTo(
      { baseUrl: network.baseUrl, account, token },
      {
        paging: { ...defaultSettings.service.paging, perPage: 2 },
        retryLimits: { attempts: 1, firstWait: 0, maxWait: 0, totalWait: 0 },
      },
    );
    const asked = (): Promise<string> =>
      vendors.page(1).then(
        ({ rows }) => `${rows.length} rows`,
        (error: unknown) => (error as MirrorError).code,
      );
    expect(await asked()).toBe('2 rows');
    const whole = network.sent();
    expect(whole).toBeGreaterThan(1_000);
    Object.assign(network.faults, { cutAfter: 0, ending } satisfies NetworkFaults);
    // The connection that is still open ends with the next answer, whatever is cut.
    await asked();
    for (let cutAfter = 0; cutAfter < whole; cutAfter++) {
      network.faults.cutAfter = cutAfter;
      expect(refused, `cut after ${cutAfter} of ${whole} bytes`).toContain(await asked());
    }
    delete network.faults.cutAfter;
    expect(await asked()).toBe('2 rows');
  });

  it('in every attempt ends a pull with 69, and leaves whole pages', async () => {
    const { at, network } = await behindNetwork();
    expect((await at.run('sync')).status).toBe(0);
    const before = at.query('SELECT * FROM vendors ORDER BY vendorid');
    network.faults.cutAfter = 700;
    const { status, stdout } = await at.run('sync', '--json');
    expect([status, JSON.parse(stdout)]).toEqual([
      69,
      expect.objectContaining({ ok: false, runs: [expect.objectContaining({ outcome: 'failed', pages: 0 })] }),
    ]);
    expect(at.query('SELECT * FROM vendors ORDER BY vendorid')).toEqual(before);
  });
});

describe('C14 A25 a slow and bumpy network', () => {
  it.each([1, 7, 1_000])('in slices of %i bytes brings everything', async (slice) => {
    const { at, network, differences } = await behindNetwork();
    network.faults.slice = slice;
    expect((await at.run('sync')).status).toBe(0);
    expect(differences()).toEqual([]);
  });

  it('that breaks now and then: requests are repeated, and the pull is complete', async () => {
    const { at, network, differences } = await behindNetwork();
    // A connection carries some pages, and breaks in the middle of another.
    Object.assign(network.faults, { cutAfter: 30_000, ending: 'reset' } satisfies NetworkFaults);
    const { status, stderr } = await at.run('sync', '--json');
    expect(status, stderr).toBe(0);
    expect(differences()).toEqual([]);
  });
});
