/** A daemon that no longer receives deliveries repairs its callback without help. */
import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { judgeDeliveries } from '../../../src/health/judge.ts';
import { account } from '../../support/names.ts';
import { isFresh, someVendor } from '../../support/testbed/daemon.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { isPage, slowNetwork } from '../../support/network/slow-network.ts';

let marker = 0;

/** Whether a change that is made now is told, and arrives by being told. */
async function hears(at: Testbed<'daemon'>, within = 10_000): Promise<boolean> {
  marker += 1;
  const name = `Marker ${marker}`;
  at.sandbox.vendors(account).edit(someVendor(at), { vendor_name: name });
  const end = at.clock.monotonic() + within;
  await at.clock.until(
    'it came or did not',
    () => at.query('SELECT 1 FROM vendors WHERE vendor_name = ?', name).length > 0 || at.clock.monotonic() >= end,
  );
  return at.query(`SELECT 1 FROM vendors WHERE vendor_name = ? AND source = 'delivery'`, name).length > 0;
}

function callback(at: Testbed<'daemon'>): number {
  return at.sandbox.callbacks(account).all()[0]?.id ?? 0;
}

async function untilHears(at: Testbed<'daemon'>, atMost: number): Promise<void> {
  await at.clock.until('it hears again', () => hears(at), atMost);
}

/** The next look at the callbacks comes with the next reconciliation. */
const quarter = 16 * 60_000;

describe('deliveries arrive again', () => {
  it.each(['unverified', 'absent'])('D10 after the service disabled the callback (%s)', async (disabled) => {
    const at = await testbed({ level: 'daemon', world: [`disabled=${disabled}`] });
    at.sandbox.callbacks(account).disable(at.clock.now(), callback(at));
    expect(await hears(at)).toBe(false);
    await untilHears(at, quarter);
  });

  it('D10 after the service disabled the callback without showing it: the watchdog notices and says so', async () => {
    const at = await testbed({ level: 'daemon', world: ['disabled=silent'] });
    at.sandbox.callbacks(account).disable(at.clock.now(), callback(at));
    for (const { vendorid } of at.sandbox.vendors(account).all().slice(0, 5))
      at.sandbox.vendors(account).edit(Number(vendorid), { city: 'Unheard' });
    expect(await hears(at)).toBe(false);
    await untilHears(at, 5 * quarter);
    expect(at.log.map(({ msg }) => msg)).toContainEqual(
      expect.stringMatching(/no delivery announced.*the callback was renewed/),
    );
  });

  it('L96 in an account where nobody edits any more: the renewal ends the silence, and is logged once', async () => {
    const at = await testbed({ level: 'daemon', world: ['disabled=silent'] });
    const isSilent = async (): Promise<boolean> => {
      const { accounts } = await at.clock.during(at.daemon.health.facts());
      return accounts.some((facts) => judgeDeliveries(facts, at.clock.now()).state === 'silent');
    };
    at.sandbox.callbacks(account).disable(at.clock.now(), callback(at));
    for (const { vendorid } of at.sandbox.vendors(account).all().slice(0, 5))
      at.sandbox.vendors(account).edit(Number(vendorid), { city: 'Unheard' });
    await at.clock.until('the silence is noticed', isSilent, 3 * quarter);
    await at.clock.until('it is renewed', async () => !(await isSilent()), 3 * quarter);
    const states: boolean[] = [];
    for (let passed = 0; passed < 24; passed += 1) {
      await at.clock.advance(quarter);
      states.push(await isSilent());
    }
    expect(states).not.toContain(true);
    expect(at.log.filter(({ msg }) => /the callback (is|was) renewed/.test(msg))).toHaveLength(1);
  });

  it('D6 after the callback was deleted at the service', async () => {
    const at = await testbed({ level: 'daemon' });
    at.sandbox.callbacks(account).remove(callback(at));
    expect(await hears(at)).toBe(false);
    await untilHears(at, quarter);
    expect(at.sandbox.callbacks(account).all()).toHaveLength(1);
  });

  it('E9 after the service signs with a verifier that we do not have: sweeps find what was refused', async () => {
    const at = await testbed({ level: 'daemon' });
    const book = at.sandbox.callbacks(account);
    book.renew(at.clock.now(), book.get(callback(at))!);
    book.verify(at.clock.now(), book.get(callback(at))!, book.get(callback(at))!.verifier);
    for (const { vendorid } of at.sandbox.vendors(account).all().slice(0, 6))
      at.sandbox.vendors(account).edit(Number(vendorid), { city: 'Strange' });
    await untilHears(at, 3 * quarter);
  });

  it('D5 D8 after the secrets were removed while it was stopped', async () => {
    const at = await testbed({ level: 'daemon' });
    await at.stop();
    for (const suffix of ['', '-wal', '-shm']) rmSync(at.settings.secrets + suffix, { force: true });
    at.sandbox.vendors(account).edit(someVendor(at), { city: 'Missed' });
    await at.reopen();
    await at.start();
    await untilHears(at, 60_000);
    expect(at.sandbox.callbacks(account).all()).toHaveLength(1);
    await at.untilQuiet();
    expect(at.query(`SELECT 1 FROM vendors WHERE city = 'Missed'`)).toHaveLength(1);
  });

  it('D12 after the public address changed: the old callback is deleted', async () => {
    const at = await testbed({ level: 'daemon' });
    await at.reopen({ listener: { host: '127.0.0.1', port: 0, publicUrl: 'https://moved.example.com' } });
    await at.start();
    await untilHears(at, 60_000);
    expect(
      at.sandbox
        .callbacks(account)
        .all()
        .map(({ uri }) => new URL(uri).origin),
    ).toEqual(['https://moved.example.com']);
  });
});

describe('after a gap', () => {
  const ready = async (at: Testbed<'daemon'>): Promise<boolean> => {
    await at.clock.pass(1_000);
    return isFresh(at);
  };

  it('B6 J10 F12 after the machine slept, the mirror is not called fresh before a reconciliation', async () => {
    const at = await testbed({ level: 'daemon' });
    expect(await ready(at)).toBe(true);
    at.sandbox.faults.next({ kind: 'hang', match: ({ path }) => path.endsWith('/bill_vendors') });
    at.clock.shiftWall(6 * 3_600_000);
    const before = at.runs.length;
    await at.clock.until(
      'the gap is noticed',
      () => at.log.some(({ msg }) => msg.includes('the clock jumped')),
      60_000,
    );
    expect(await ready(at)).toBe(false);
    await at.clock.until('it has reconciled', () => at.runs.length > before && at.runs.at(-1)?.outcome === 'complete');
    expect(await ready(at)).toBe(true);
  });

  it('B6 a run that began before the gap does not end the doubt', async () => {
    const { network, hold, letGo } = slowNetwork();
    const at = await testbed({ level: 'daemon', network });
    const before = at.runs.length;
    hold(isPage);
    await at.clock.until('a run is under way', () => at.requests.some((line) => line.endsWith('/bill_vendors')));
    at.clock.shiftWall(600_000);
    await at.clock.until(
      'the gap is noticed',
      () => at.log.some(({ msg }) => msg.includes('the clock jumped')),
      60_000,
    );
    // The next run is held in its turn: a run asks for three lists.
    let left = 2;
    hold((url) => isPage(url) && (left -= 1) < 0);
    await at.untilRuns();
    expect(at.runs.at(-1)?.outcome).toBe('complete');
    expect(await ready(at)).toBe(false);
    letGo();
    await at.clock.until('another run is over', () => at.runs.length === before + 2);
    expect(await ready(at)).toBe(true);
  });
});
