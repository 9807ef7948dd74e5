/** Somebody who knows the address of a callback sends there what he likes: what is scarce is not spent on him, and what the service sends arrives. */
import { expect, it } from 'vitest';
import { judge } from '../../../src/health/judge.ts';
import { delivery, formType, signed } from '../../support/deliveries/signed-delivery.ts';
import { ask } from '../../support/mirror-file.ts';
import { account } from '../../support/names.ts';
import type { Delivery } from '../../support/testbed/daemon.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

type Stranger = Pick<Delivery, 'headers' | 'body'>;

let sent = 0;
const wrongSignatures = (count: number): Stranger[] =>
  Array.from({ length: count }, () => {
    const { headers, body } = signed(delivery, `a-strangers-key-${(sent += 1)}`);
    return { headers, body };
  });
const codes = (count: number, callbackid: number | null): Stranger[] =>
  Array.from({ length: count }, () => ({
    headers: { 'content-type': formType },
    body: `name=callback.verify&verifier=a-strangers-code-${(sent += 1)}&account_id=${account}${callbackid === null ? '' : `&object_id=${callbackid}`}`,
  }));

/** The first callback of the sandbox is 2001, which an application that lists callbacks sees. */
const attacks: readonly (readonly [string, () => Stranger[]])[] = [
  ['six wrong signatures', () => wrongSignatures(6)],
  ['twelve codes that name no callback', () => codes(12, null)],
  ['twelve codes that name the callback', () => codes(12, 2001)],
  ['codes for other callbacks', () => [2002, 1, 999_999].flatMap((id) => codes(6, id))],
];

const mix = (): Stranger[] => [...wrongSignatures(6), ...codes(40, null), ...codes(9, 2001), ...wrongSignatures(3)];

const moments = [
  'before anything is registered',
  'before the registration is answered',
  'before its code comes',
  'right after its code came',
  'once it is verified',
] as const;

interface Attacked {
  readonly at: Testbed<'daemon'>;
  /** Bodies of PUT and POST to the callbacks. */
  readonly written: string[];
}

async function attacked(moment: (typeof moments)[number], attack: () => Stranger[]): Promise<Attacked> {
  const written: string[] = [];
  let isDone = false;
  const strike = async (now: (typeof moments)[number]): Promise<void> => {
    if (now !== moment || isDone) return;
    isDone = true;
    const [row] = ask<{ path_token: string }>(at.settings.secrets, 'SELECT * FROM path_tokens');
    for (const stranger of attack()) await at.deliver({ path: `/webhooks/${account}/${row?.path_token}`, ...stranger });
  };
  const at: Testbed<'daemon'> = await testbed({
    level: 'daemon',
    started: false,
    async answer({ pathname }, { method, body }) {
      if (!pathname.includes('/events/callbacks')) return undefined;
      if (method !== 'GET' && typeof body === 'string') written.push(body);
      await strike(method === 'POST' ? 'before the registration is answered' : 'before anything is registered');
      return undefined;
    },
    post:
      (carry) =>
      async (uri, headers, body, ...rest) => {
        const isCode = body.includes('callback.verify');
        if (isCode) await strike('before its code comes');
        const answer = await carry(uri, headers, body, ...rest);
        if (isCode) await strike('right after its code came');
        return answer;
      },
  });
  await at.start();
  const isVerified = (): boolean =>
    at.sandbox
      .callbacks(account)
      .all()
      .some(({ verified }) => verified);
  await at.clock.until('it is verified', isVerified, 9 * 60_000);
  await strike('once it is verified');
  await at.clock.advance(60_000);
  expect(isDone).toBe(true);
  return { at, written };
}

async function isTold(at: Testbed<'daemon'>): Promise<boolean> {
  const { accounts } = judge(await at.clock.during(at.daemon.health.facts()), at.clock.now());
  return accounts.some(({ problems }) => problems.some(({ code }) => code === 'address_known'));
}

const cases = [
  ...moments.map((moment) => [moment, 'a mix', mix] as const),
  ...attacks.map(([title, attack]) => ['right after its code came', title, attack] as const),
];

it.each(cases)(
  'L52 a stranger who knows the address, %s, and sends %s, ends no subscription',
  async (moment, _, attack) => {
    const { at, written } = await attacked(moment, attack);
    expect(written.filter((body) => body.includes('resend'))).toEqual([]);
    expect(written.filter((body) => body.includes('"uri"'))).toHaveLength(1);
    expect(at.sandbox.callbacks(account).all()).toMatchObject([{ id: 2001, verified: true }]);
    const { vendorid } = at.sandbox.vendors(account).all()[0]!;
    at.sandbox.vendors(account).edit(Number(vendorid), { vendor_name: 'Heard' });
    const hasHeard = (): boolean =>
      at.query(`SELECT 1 FROM vendors WHERE vendor_name = 'Heard' AND source = 'delivery'`).length > 0;
    await at.clock.until('a delivery is accepted', hasHeard, 60_000);
    await at.clock.advance(2_000);
    expect(at.log.filter(({ msg }) => msg.includes('listener.publicUrl'))).toEqual([]);
    expect(await isTold(at)).toBe(true);
  },
);
