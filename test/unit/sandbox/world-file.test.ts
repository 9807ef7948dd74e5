import { appendFileSync, chownSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Sandbox, type SandboxOptions } from '../../../src/sandbox/service.ts';
import { openWorldFile } from '../../../src/sandbox/world-file.ts';
import { parseWorld } from '../../../src/sandbox/core/worlds.ts';
import { temporaryFolder } from '../../support/mirror-file.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const account = '6BApk';
const place = (): string => join(temporaryFolder(), 'sandbox.db.world');

/** Starts a sandbox on a world file; `stop` leaves it as a process that ends does. */
function start(file: string, options: Partial<SandboxOptions> = {}) {
  const memory = openWorldFile(file, 'first');
  const sandbox = new Sandbox(
    { accounts: [account], vendors: 30, token: 'a-token', ...options, memory },
    { clock: virtualClock(), post: () => Promise.resolve({ status: 200 }) },
  );
  const stop = (): void => {
    sandbox.stop();
    memory.close();
  };
  onTestFinished(() => sandbox.stop());
  return { memory, sandbox, vendors: sandbox.vendors(account), callbacks: sandbox.callbacks(account), stop };
}

describe('a world that is kept', () => {
  it('belongs to the same user after a command of root', () => {
    const file = place();
    start(file).stop();
    // Only root may give it away; for others it is theirs before and afterwards.
    if (process.getuid?.() === 0) chownSync(file, 65_534, 65_534);
    const { uid } = statSync(file);
    start(file).stop();
    expect([statSync(file).uid, statSync(file).mode & 0o777]).toEqual([uid, 0o600]);
  });

  it('K22 is found by the next start as it was left: vendors, callbacks, gateways and tokens', () => {
    const file = place();
    const one = start(file, { refreshToken: 'once' });
    const [first, second, third] = one.vendors.all().map(({ vendorid }) => Number(vendorid));
    one.vendors.edit(first!, { city: 'Oslo' });
    one.vendors.delete(second!);
    one.vendors.vanish(third!);
    one.vendors.setBalance(first!, 'overdue', [{ amount: '7.50', code: 'USD' }]);
    one.vendors.create({ vendor_name: 'New', language: 'en' });
    const callback = one.callbacks.add(1, 'bill_vendor', 'http://127.0.0.1:1/a');
    one.callbacks.verify(2, callback, callback.verifier);
    one.callbacks.remove(one.callbacks.add(3, 'bill', 'http://127.0.0.1:1/b').id);
    const [gateway] = one.sandbox.gateways(account).all();
    one.sandbox.gateways(account).remove(Number(gateway?.['sgid']));
    expect(one.sandbox.access.takeRefresh('once')).toBe(true);
    one.sandbox.access.grant('granted', ['user:bill_vendors:read'], [account], 99);
    const left = [one.vendors.all(), one.callbacks.all(), one.sandbox.gateways(account).all()];
    one.stop();

    const two = start(file, { refreshToken: 'once', vendors: 80, seed: 'another' });
    expect([two.vendors.all(), two.callbacks.all(), two.sandbox.gateways(account).all()]).toEqual(left);
    expect([two.memory.id, two.memory.starts]).toEqual([one.memory.id, 2]);
    expect(two.vendors.version(first!)).toBe(3);
    expect(two.sandbox.access.takeRefresh('once')).toBe(false);
    expect(two.sandbox.access.of('Bearer granted', 0)?.expires).toBe(99);
    expect(two.sandbox.access.of('Bearer granted', 99)).toBeUndefined();
    two.vendors.create({ vendor_name: 'Newer', language: 'en' });
    expect(new Set(two.vendors.all().map(({ vendorid }) => vendorid)).size).toBe(two.vendors.all().length);
    two.stop();
    expect(start(file).vendors.all()).toHaveLength(left[0]!.length + 1);
  });

  it('keeps to plain or odd records, whatever a later start says; one of an older version is odd', () => {
    const file = place();
    openWorldFile(file, '1', 'odd').close();
    const again = openWorldFile(file, '1', 'plain');
    again.close();
    expect(again.records).toBe('odd');
    expect(start(place()).memory.records).toBe('plain');
    const older = place();
    writeFileSync(older, '{"sandbox":1,"id":"a1","seed":"1","life":1}\n');
    expect(start(older).vendors.records).toBe('odd');
  });

  it('K22 repeats no code and no number that it drew before', () => {
    const file = place();
    const codes = [1, 2, 3].map((life) => {
      const one = start(file);
      const { id, verifier } = one.callbacks.add(1, 'bill_vendor', `http://127.0.0.1:1/${life}`);
      one.stop();
      return [id, verifier];
    });
    expect(new Set(codes.map(([id]) => id)).size).toBe(3);
    expect(new Set(codes.map(([, verifier]) => verifier)).size).toBe(3);
  });

  it('K22 keeps the order of the latest updates', () => {
    const file = place();
    const world = parseWorld(['order=updated']);
    const order = ({ vendors }: ReturnType<typeof start>) => {
      const sequence = vendors.sequence({} as never);
      return Array.from({ length: sequence.length }, (_, position) => sequence.at(position)).filter(
        (index) => index >= 0,
      );
    };
    const one = start(file, { world });
    const ids = one.vendors.all().map(({ vendorid }) => Number(vendorid));
    for (const id of [ids[7]!, ids[3]!, ids[5]!]) one.vendors.edit(id, { city: 'Oslo' });
    const left = order(one);
    one.stop();
    expect(order(start(file, { world }))).toEqual(left);
  });

  it('K22 survives a process that was killed in the middle of a line, and is for its owner alone', () => {
    const file = place();
    const one = start(file);
    const { vendorid } = one.vendors.create({ vendor_name: 'New', language: 'en' });
    one.stop();
    appendFileSync(file, '{"kind":"vendor","account":"6BApk","key":3,"val');
    const two = start(file);
    expect(two.vendors.find(Number(vendorid), 0)).toMatchObject({ texts: { vendor_name: 'New' } });
    two.stop();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toContain('"val\n');
  });

  it('K22 never replaces a file that is something else', () => {
    const file = place();
    writeFileSync(file, 'accounts: [6BApk]\n');
    expect(() => openWorldFile(file, 'x')).toThrow(`${file} is not a sandbox world.`);
    expect(readFileSync(file, 'utf8')).toBe('accounts: [6BApk]\n');
    expect(() => openWorldFile(join(file, 'below'), 'x')).toThrow(expect.objectContaining({ code: 'file_unwritable' }));
  });
});
