/** Probes of `doctor`: how much of a request that looks like a delivery arrives. */
import { expect, it } from 'vitest';
import { challengeHeader, probePath, probeProof, proofHeader } from '../../../src/webhook/address.ts';
import { account } from '../../support/names.ts';
import { testbed } from '../../support/testbed.ts';

const nonce = 'n'.repeat(32);
const body = 'probe=%C3%A9&empty=';

it('a probe is answered with what arrived of it if the path token is right, and is neither stored nor counted', async () => {
  const at = await testbed({ level: 'listener' });
  const probe = async (headers: Record<string, string>, path = probePath(account)): Promise<Response> =>
    fetch(at.base + path, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        [challengeHeader]: `${account}.${nonce}`,
        ...headers,
      },
    });
  const token = await at.secrets.verifiers.pathToken(account);
  const arrived = (signature: string | undefined, text = body): string =>
    probeProof(token, `${account}.${nonce}`, { signature, body: Buffer.from(text) });

  const signed = await probe({ 'x-service-hmac-sha256': 'c2lnbmVk' });
  expect([signed.status, signed.headers.get(proofHeader)]).toEqual([200, arrived('c2lnbmVk')]);
  const unsigned = (await probe({})).headers.get(proofHeader);
  expect(unsigned).toBe(arrived(undefined));
  expect(new Set([unsigned, arrived('c2lnbmVk'), arrived(undefined, 'probe=é&empty=')]).size).toBe(3);

  const other = await probe({ [challengeHeader]: `nobody.${nonce}` }, probePath('nobody'));
  expect([other.status, other.headers.get(proofHeader)?.length]).toEqual([200, unsigned?.length]);
  expect(at.outcomes).toEqual([]);
  for (const [headers, path] of [
    [{}, probePath('nobody')],
    [{ [challengeHeader]: 'no challenge' }, probePath(account)],
    [{}, `${probePath(account)}/more`],
  ] as const)
    expect((await probe(headers, path)).status).toBe(404);
  expect(at.called).toEqual({ deliveries: 0, codes: 0, silences: 0 });
});

it('L64 who asks about an account cannot tell whether it is served, nor by what changes at a restart', async () => {
  const first = await testbed({ level: 'listener' });
  /** Of a challenge, a probe and a delivery with a wrong token: status, body, and headers but the time. */
  const answers = async ({ base }: typeof first, id: string): Promise<unknown> => {
    const challenge = { [challengeHeader]: `${id}.${nonce}` };
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const all = await Promise.all([
      fetch(`${base}/healthz`, { headers: challenge }),
      fetch(base + probePath(id), { method: 'POST', body, headers: { ...form, ...challenge } }),
      fetch(`${base}/webhooks/${id}/wrong`, { method: 'POST', body, headers: form }),
      fetch(`${base}/webhooks/${id}/`, { method: 'POST', body, headers: form }),
    ]);
    return Promise.all(
      all.map(async (answer) => {
        const headers = Object.fromEntries([...answer.headers].filter(([name]) => name !== 'date'));
        return { status: answer.status, text: await answer.text(), headers };
      }),
    );
  };
  const withoutProofs = (found: unknown): string =>
    JSON.stringify(found).replaceAll(/"x-vendor-mirror-proof":"[\w-]{43}"/g, '"proof"');
  const [known, unknown] = [await answers(first, account), await answers(first, 'nobody')];
  expect(withoutProofs(unknown)).toBe(withoutProofs(known));
  expect(withoutProofs(known).match(/"proof"/g)).toHaveLength(2);
  await first.close();
  const second = await testbed({ level: 'listener', folder: first.folder });
  expect([await answers(second, account), await answers(second, 'nobody')]).toEqual([known, unknown]);
});
