/** Outgoing webhooks of a whole daemon: a receiver that fails, hangs, and comes back. */
import { expect, it } from 'vitest';
import { hookSecret, Receiver } from '../../support/network/receiver.ts';
import { someVendor, type DaemonTestbed } from '../../support/testbed/daemon.ts';
import { testbed } from '../../support/testbed.ts';
import { account } from '../../support/names.ts';

const left = (at: DaemonTestbed): unknown[] =>
  at.query(`SELECT 1 FROM _notify_queue WHERE due_ms IS NOT NULL
    UNION ALL SELECT 1 FROM _notify_targets WHERE CAST(substr(place, 18) AS INTEGER) < (SELECT max(seq) FROM _vendor_versions)`);

it('a receiver that fails, hangs and comes back gets every change, and the mirror does not wait for it', async () => {
  let receiver: Receiver | undefined;
  const at = await testbed({
    level: 'daemon',
    hooks: (clock) => (receiver = new Receiver(clock)).post,
    settings: { notify: [{ name: 'receiver', url: 'https://receiver.example/hook', secret: hookSecret }] },
  });
  const vendorid = someVendor(at);
  const edit = (name: string) => at.sandbox.vendors(account).edit(vendorid, { vendor_name: name });
  await at.clock.until('the first sweep is told', () => left(at).length === 0);
  for (const [name, behaviour] of [
    ['fails', () => 500],
    ['hangs', () => 'hangs' as const],
    ['back', () => 200],
  ] as const) {
    receiver!.behaviour = behaviour;
    edit(name);
    await at.clock.until(
      'the mirror shows it',
      () => at.query('SELECT 1 FROM vendors WHERE vendorid = ? AND vendor_name = ?', vendorid, name).length > 0,
    );
  }
  await at.clock.until('all is told', () => left(at).length === 0);
  const told = receiver!.accepted();
  expect(told).toHaveLength(at.query('SELECT 1 FROM _vendor_versions').length);
  const names = receiver!.received
    .filter((message) => message.accepted && message.vendorid === vendorid)
    .map(
      ({ body }) =>
        (JSON.parse(body) as { data: { values: { vendor_name?: { new: string } } } }).data.values.vendor_name?.new,
    );
  expect(names).toEqual([undefined, 'fails', 'hangs', 'back']);
  expect(at.log.map((entry) => JSON.stringify(entry)).join()).not.toContain(hookSecret);
});
