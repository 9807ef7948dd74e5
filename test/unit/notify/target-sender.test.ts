/** What one target is sent, and what becomes of a message that is not accepted. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compiled } from '../../support/source/compiled.ts';
import { temporaryFolder } from '../../support/mirror-file.ts';
import { notified, type Notified } from '../../support/network/receiver.ts';

const minute = 60_000;

async function started(): Promise<Notified> {
  const at = await notified();
  await at.sender.start();
  await at.clock.pass(1_000);
  return at;
}

const names = ({ receiver }: Notified, vendorid: number): string[] =>
  receiver.received
    .filter((one) => one.accepted && one.vendorid === vendorid)
    .map(({ body }) => (JSON.parse(body) as { data: { values: { vendor_name?: { new: string } } } }).data)
    .map(({ values }) => values.vendor_name?.new ?? 'created');

describe('a target of outgoing webhooks', () => {
  it('begins at the current end of the feed', async () => {
    const at = await notified();
    await at.change(1, 'before');
    await at.sender.start();
    await at.clock.pass(1_000);
    await at.change(2, 'after');
    await at.untilSent();
    expect(at.receiver.received.map(({ type, vendorid }) => [type, vendorid])).toEqual([['vendor.created', 2]]);
  });

  it('gets the changes of a vendor one at a time and in order, and those of several vendors at once', async () => {
    const at = await started();
    for (const name of ['one', 'two', 'three', 'four'])
      for (let vendorid = 1; vendorid <= 20; vendorid++) await at.change(vendorid, name);
    await at.untilSent();
    for (let vendorid = 1; vendorid <= 20; vendorid++)
      expect(names(at, vendorid)).toEqual(['created', 'two', 'three', 'four']);
    expect(at.receiver.most).toEqual({ ofOneVendor: 1, ofAll: 4 });
    expect(at.receiver.received).toHaveLength(80);
    expect(at.query('SELECT * FROM _notify_queue')).toEqual([]);
  });

  it('sends a failed message again, with the same id, before later changes of its vendor; other vendors continue', async () => {
    const at = await started();
    at.receiver.behaviour = ({ vendorid }) => (vendorid === 1 ? 500 : 200);
    await at.change(1, 'one');
    await at.change(1, 'two');
    await at.change(2, 'one');
    await at.clock.pass(1_000);
    await at.change(2, 'two');
    await at.clock.pass(1_000);
    expect(names(at, 2)).toEqual(['created', 'two']);
    expect(names(at, 1)).toEqual([]);
    at.receiver.behaviour = () => 200;
    await at.untilSent();
    expect(names(at, 1)).toEqual(['created', 'two']);
    const ofOne = at.receiver.received.filter(({ vendorid }) => vendorid === 1);
    expect(ofOne[1]?.id).toBe(ofOne[0]?.id);
    expect(ofOne[1]!.at - ofOne[0]!.at).toBeGreaterThanOrEqual(5_000);
  });

  it('reports that the history is gone if the mirror was restored from a copy, and continues from there', async () => {
    const at = await started();
    await at.change(1, 'one');
    await at.untilSent();
    const copy = join(temporaryFolder(), 'copy.db');
    await at.mirror.publish({ path: copy }, { own: { secrets: '', readFrom: [] }, program: compiled.exports });
    await at.change(1, 'two');
    await at.untilSent();

    const back = await notified({ file: copy });
    for (const [target, position] of at.positions.saved) back.positions.saved.set(target, position);
    await back.sender.start();
    await back.clock.pass(1_000);
    await back.change(1, 'three');
    await back.untilSent();
    expect(back.receiver.received.map(({ type }) => type)).toEqual(['history.gone', 'vendor.updated']);
  });

  it('L74 sends nothing that was queued in a copy to which the mirror was restored', async () => {
    const at = await started();
    at.receiver.behaviour = () => 500;
    await at.change(1, 'one');
    await at.change(2, 'one');
    await at.clock.until('both wait', () => at.query('SELECT 1 FROM _notify_queue').length === 2);
    const copy = join(temporaryFolder(), 'copy.db');
    await at.mirror.publish({ path: copy }, { own: { secrets: '', readFrom: [] }, program: compiled.exports });
    at.receiver.behaviour = () => 200;
    await at.change(1, 'two');
    await at.untilSent();

    const back = await notified({ file: copy });
    expect(back.query('SELECT vendorid FROM _notify_queue')).toHaveLength(2);
    for (const [target, position] of at.positions.saved) back.positions.saved.set(target, position);
    await back.sender.start();
    await back.clock.pass(1_000);
    await back.change(3, 'three');
    await back.untilSent();
    expect(back.receiver.received.map(({ type, vendorid }) => [type, vendorid])).toEqual([
      ['history.gone', undefined],
      ['vendor.created', 3],
    ]);
  });

  it('gives a vendor up after twelve failures, until its next change or a retry by a person', async () => {
    const at = await started();
    at.receiver.behaviour = ({ vendorid }) => (vendorid === 1 ? 500 : 200);
    await at.change(1, 'one');
    await at.clock.until(
      'it is given up',
      () => at.query('SELECT 1 FROM _notify_queue WHERE due_ms IS NULL').length > 0,
    );
    expect(at.receiver.received).toHaveLength(12);
    await at.clock.pass(10 * minute);
    expect(at.receiver.received).toHaveLength(12);
    await at.change(1, 'two');
    await at.clock.pass(2_000);
    expect(at.receiver.received).toHaveLength(13);
    expect(at.query('SELECT due_at, last_error FROM _notify_queue')).toEqual([
      { due_at: null, last_error: 'receiver answered 500.' },
    ]);
    at.receiver.behaviour = () => 200;
    expect(await at.mirror.outbox.retry('receiver')).toBe(1);
    await at.untilSent();
    expect(names(at, 1)).toEqual(['created', 'two']);
  });

  it('pauses while a receiver is down, without counting that against any vendor, and delivers everything when it is back', async () => {
    const at = await started();
    at.receiver.behaviour = () => new Error('connection lost');
    for (let vendorid = 1; vendorid <= 50; vendorid++) await at.change(vendorid, 'one');
    await at.clock.pass(40 * minute);
    const attempts = at.receiver.received.length;
    expect(attempts).toBeLessThan(40 + 20);
    expect(at.query('SELECT max(attempts) AS most, min(due_ms) > 0 AS due FROM _notify_queue')).toEqual([
      { most: 1, due: 1 },
    ]);
    at.receiver.behaviour = () => 200;
    await at.clock.pass(61_000);
    await at.untilSent();
    expect(at.receiver.accepted()).toHaveLength(50);
  });

  it('treats a receiver that hangs as failing, and sends messages about other vendors meanwhile', async () => {
    const at = await started();
    at.receiver.behaviour = ({ vendorid }) => (vendorid === 1 ? 'hangs' : 200);
    await at.change(1, 'one');
    await at.clock.pass(1_000);
    await at.change(2, 'one');
    await at.clock.pass(1_000);
    expect(names(at, 2)).toEqual(['created']);
    await at.clock.pass(15_000);
    expect(at.query('SELECT last_error FROM _notify_queue')).toEqual([
      { last_error: 'receiver did not answer within 15 s.' },
    ]);
  });

  it('is disabled by 410, and works again once a person enables it, with everything since', async () => {
    const at = await started();
    at.receiver.behaviour = () => 410;
    await at.change(1, 'one');
    await at.clock.pass(1_000);
    await at.change(2, 'one');
    await at.clock.pass(10 * minute);
    expect(at.receiver.received).toHaveLength(1);
    expect(at.query('SELECT disabled_at IS NOT NULL AS is_disabled, last_error FROM _notify_targets')).toEqual([
      { is_disabled: 1, last_error: 'receiver answered 410: it wants no more messages.' },
    ]);
    at.receiver.behaviour = () => 200;
    await at.mirror.outbox.retry('receiver');
    await at.untilSent();
    expect([names(at, 1), names(at, 2)]).toEqual([['created'], ['created']]);
  });

  it('waits at a stop for the message under way, within its limit, and sends an unfinished one again', async () => {
    const at = await started();
    at.receiver.behaviour = () => 'hangs';
    await at.change(1, 'one');
    await at.clock.pass(1_000);
    const before = at.clock.monotonic();
    await at.clock.during(at.sender.stop());
    expect(at.clock.monotonic() - before).toBe(2_500);
    expect(at.query('SELECT attempts FROM _notify_queue')).toEqual([{ attempts: 0 }]);
    at.receiver.behaviour = () => 200;
    await at.another().start();
    await at.untilSent();
    expect(names(at, 1)).toEqual(['created']);
  });

  it('F12 reports once that the history is gone if the mirror was restored, and continues with later changes', async () => {
    const at = await started();
    await at.change(1, 'one');
    await at.untilSent();
    await at.clock.during(at.sender.stop());
    // What is noted outside of the mirror is of a history that this file does not have.
    at.positions.saved.set('receiver', '0123456789abcdef:77');
    await at.another().start();
    await at.clock.pass(1_000);
    await at.change(1, 'two');
    await at.untilSent();
    expect(at.receiver.received.map(({ type }) => type)).toEqual(['vendor.created', 'history.gone', 'vendor.updated']);
    const [, gone] = at.receiver.received;
    expect(JSON.parse(gone!.body)).toMatchObject({
      data: { reason: 'other_history', goes_on_after: gone!.id.slice(5) },
    });
  });

  it('continues with the remaining changes if some were removed before they were sent', async () => {
    const at = await started();
    await at.clock.during(at.sender.stop());
    await at.change(1, 'one');
    await at.change(1, 'two');
    await at.change(1, 'three');
    await at.clock.pass(1_000);
    const pruning = at.mirror.prune({
      deliveriesSince: undefined,
      runsSince: undefined,
      versionsSince: at.clock.now(),
    });
    while (!(await pruning.next()).done);
    await at.another().start();
    await at.untilSent();
    expect(at.receiver.received.map(({ type }) => type)).toEqual(['history.gone', 'vendor.updated']);
  });
});
