/** L45: `--log-level debug` tells a night's story: what came, what was asked, what became of each mark. */
import { describe, expect, it } from 'vitest';
import { knownVerifier, signed } from '../../support/deliveries/signed-delivery.ts';
import { account, token } from '../../support/names.ts';
import { someVendor } from '../../support/testbed/daemon.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly account?: string;
  readonly vendorid?: number;
  readonly outcome?: string;
  readonly showed?: string;
  readonly method?: string;
  readonly path?: string;
  readonly status?: number | string;
  readonly ms?: number;
}

const told = (at: Testbed<'daemon'>, msg: string): Line[] =>
  (at.log as readonly Line[]).filter((line) => line.msg.startsWith(msg));

describe('L45 the log at debug', () => {
  it('tells each delivery with its outcome, each request with its status and time, and each step of a mark', async () => {
    let isBroken = false;
    const at = await testbed({
      level: 'daemon',
      logLevel: 'debug',
      answer: (url, { method }) =>
        isBroken && method === 'GET' && /\/bill_vendors\/\d+$/.test(url.pathname)
          ? new Response('{}', { status: 500, headers: { 'content-type': 'application/json' } })
          : undefined,
    });
    const vendor = someVendor(at);
    const [begun, asked] = [at.log.length, told(at, 'a request ended').length];
    at.sandbox.vendors(account).edit(vendor, { city: 'Oslo', vendor_name: 'Canary Name' });
    await at.clock.until('it was delivered', () => at.posted.length > 1);
    await at.untilQuiet();
    isBroken = true;
    at.sandbox.vendors(account).edit(vendor, { city: 'Bergen' });
    await at.clock.pass(60_000);
    isBroken = false;
    await at.untilQuiet();
    const delivery = at.posted.find(({ body }) => body.includes('bill_vendor.'))!;
    await at.deliver({ ...delivery, headers: { 'content-type': 'application/x-www-form-urlencoded' } });
    const forged = signed(
      { ...Object.fromEntries(new URLSearchParams(delivery.body)), account_id: account },
      'another',
    );
    await at.deliver({ ...delivery, headers: forged.headers, body: forged.body });
    const lines = (at.log as readonly Line[]).slice(begun);

    const requests = told(at, 'a request ended').slice(asked);
    const answered = requests.filter(({ status }) => status === 200).map(({ method, path }) => `${method} ${path}`);
    expect(answered).toEqual(at.requests);
    expect(requests.some(({ status, path }) => status === 500 && path?.endsWith(`/${vendor}`))).toBe(true);
    expect(requests.every(({ ms, account: of }) => Number.isInteger(ms) && of === account)).toBe(true);

    expect(
      told(at, 'a request came')
        .slice(-2)
        .map(({ outcome }) => outcome),
    ).toEqual(['unsigned', 'wrong_signature']);
    expect(lines.filter(({ msg }) => msg === 'a delivery is journalled').length).toBe(2);
    const steps = lines
      .filter(({ vendorid }) => vendorid === vendor)
      .map(({ msg, showed }) => `${msg} ${showed ?? ''}`);
    expect(steps.filter((step) => step === 'a marked vendor is read ').length).toBeGreaterThanOrEqual(3);
    expect(steps).toContain('the mark: settle news');
    expect(steps).toContain('the mark: defer refused');
    expect(steps.at(-1)).toMatch(/^the mark: settle/);

    const everything = JSON.stringify(at.log);
    const path = delivery.path.slice(delivery.path.lastIndexOf('/') + 1);
    const signature = Object.entries(delivery.headers).find(([name]) => /hmac/i.test(name))?.[1];
    for (const secret of [token, path, signature, 'Canary Name', 'Oslo', 'Bergen', knownVerifier.reveal()])
      expect(everything).not.toContain(secret);
  });

  it('says at info none of it', async () => {
    const at = await testbed({ level: 'daemon' });
    at.sandbox.vendors(account).edit(someVendor(at), { city: 'Oslo' });
    await at.clock.until('it was delivered', () => at.posted.length > 1);
    await at.untilQuiet();
    expect(at.log.filter(({ level }) => level < 30)).toEqual([]);
    expect([...told(at, 'a request'), ...told(at, 'the mark')]).toEqual([]);
  });
});
