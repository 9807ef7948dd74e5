/** Callbacks that lead to this installation and that it has no secrets of: those of a mirror whose files were lost. */
import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/domain/log.ts';
import { ask } from '../../support/mirror-file.ts';
import { account } from '../../support/names.ts';
import { base, writes } from '../../support/testbed/webhook.ts';
import { testbed } from '../../support/testbed.ts';

const unknown = (path: string) =>
  ask<{ callbackid: number }>(path, 'SELECT callbackid FROM _unknown_callbacks').map(({ callbackid }) => callbackid);

describe('a callback of lost secrets that leads here', () => {
  it('L104 is recorded and logged once with what to do, and left alone', async () => {
    const lines: string[] = [];
    const log = createLog('warn', { write: (line) => lines.push(line) });
    const place = await testbed({ level: 'webhook', log });
    const book = place.service.sandbox.callbacks(account);
    book.add(0, 'bill_vendor', `${place.base}/webhooks/${account}/lost-token`);
    book.add(0, 'bill_vendor', `${place.base}/webhooks/Other/x`);
    book.add(0, 'bill_vendor', 'https://crm.example/hook');
    expect([await place.subscriptions.check(), await place.another().check()]).toEqual(['verified', 'verified']);
    expect(unknown(place.mirror.path)).toEqual([2001]);
    const told = lines.filter((line) => line.includes('callbacks delete 2001'));
    expect(told).toHaveLength(1);
    expect(told.join('')).toContain('registered with other secrets');
    expect(told.join('')).not.toContain('lost-token');
    expect(writes(place)).toEqual([`POST ${base}`, `PUT ${base}/2004`]);
    book.remove(2001);
    await place.subscriptions.check();
    expect(unknown(place.mirror.path)).toEqual([]);
  });

  it('L104 is known in another spelling of the address too', async () => {
    const place = await testbed({ level: 'webhook' });
    const book = place.service.sandbox.callbacks(account);
    book.add(0, 'bill_vendor', `${place.base.replace('http', 'HTTP')}/webhooks/${account}/lost-token`);
    book.add(0, 'bill_vendor', `${place.base}.evil.example/webhooks/${account}/x`);
    await place.subscriptions.check();
    expect(unknown(place.mirror.path)).toEqual([2001]);
  });
});
