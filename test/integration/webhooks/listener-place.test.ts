/** Where the listener took deliveries before an upgrade, and where it does now. */
import { describe, expect, it } from 'vitest';
import { account, publicUrl } from '../../support/names.ts';
import { someVendor } from '../../support/testbed/daemon.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const everywhere = { listener: { host: '0.0.0.0', port: 0, publicUrl } };
const byDefault = { listener: { port: 0, publicUrl } };

async function codes(at: Testbed<'daemon'>): Promise<string[]> {
  const { body } = await at.look('/api/status');
  return (JSON.parse(body) as { problems: { code: string }[] }).problems.map(({ code }) => code);
}

const warnings = (at: Testbed<'daemon'>): number => at.log.filter(({ msg }) => msg.includes('listener.host')).length;

async function restart(at: Testbed<'daemon'>, settings: object): Promise<void> {
  await at.stop();
  await at.reopen(settings as Record<string, unknown>);
  await at.start();
}

describe('L54 a listener that took deliveries on all interfaces', () => {
  it('and is open to this machine alone by default now, is said once in the log, and in the status until a delivery comes', async () => {
    const at = await testbed({ level: 'daemon', settings: everywhere });
    expect([warnings(at), await codes(at)]).toEqual([0, []]);
    await at.clock.pass(1_000);
    await restart(at, byDefault);
    expect([warnings(at), await codes(at)]).toEqual([1, ['listener_moved']]);
    await restart(at, byDefault);
    expect([warnings(at), await codes(at)]).toEqual([1, ['listener_moved']]);
    at.sandbox.vendors(account).edit(someVendor(at), { city: 'Heard' });
    await at.clock.until('it is heard', () => at.query(`SELECT 1 FROM vendors WHERE city = 'Heard'`).length > 0);
    expect(await codes(at)).toEqual([]);
  });

  it.each([
    ['because the settings say so', { host: '127.0.0.1', port: 0, publicUrl }],
    ['and there is no public address', { port: 0 }],
    ['or still does', { host: '0.0.0.0', port: 0, publicUrl }],
  ])('and does no longer, %s, is not mentioned', async (_why, listener) => {
    const at = await testbed({ level: 'daemon', settings: everywhere });
    await restart(at, { listener });
    expect(warnings(at)).toBe(0);
    expect(await codes(at)).not.toContain('listener_moved');
  });
});
