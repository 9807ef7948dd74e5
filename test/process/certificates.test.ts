/** A service that nobody can reach in truth: its name is unknown, or whoever answers cannot show that it is the service. */
import { describe, expect, it } from 'vitest';
import { certificatePath, httpProxy, type HttpProxyOptions } from '../support/network/http-proxy.ts';
import { hurried, type Ended } from '../support/testbed/program.ts';
import { testbed } from '../support/testbed.ts';

/** The authority of these tests is one that this machine trusts, unless told otherwise. */
const trusting = {
  ...hurried,
  NODE_EXTRA_CA_CERTS: certificatePath('authority'),
};

async function synced(options: HttpProxyOptions, env: Readonly<Record<string, string>> = trusting) {
  const world = await testbed({ level: 'sandbox', vendors: 5 });
  const before = await httpProxy(world.baseUrl, options);
  const at = await testbed({ level: 'program', service: { ...world, baseUrl: before.baseUrl }, env });
  const run: Ended = await at.run('sync');
  return { at, asked: before.asked(), host: new URL(before.baseUrl).host, run };
}

describe('the certificate of the service', () => {
  it('is accepted where it is valid, for this name, and signed by an authority that is trusted', async () => {
    const { at, asked, run } = await synced({ certificate: 'valid' });
    expect([run.status, run.stderr]).toEqual([0, expect.not.stringContaining('warning')]);
    expect(at.query('SELECT count(*) AS n FROM vendors')).toEqual([{ n: 5 }]);
    expect(asked).toBeGreaterThan(0);
  });

  const refused: [title: string, certificate: string, env: Record<string, string>, words: string][] = [
    ['has expired', 'expired', trusting, 'has expired (or the clock of this machine is wrong)'],
    ['is not valid yet', 'early', trusting, 'is not valid yet (or the clock of this machine is wrong)'],
    ['is for another name', 'elsewhere', trusting, 'is for another name'],
    ['is signed by itself', 'self-signed', trusting, 'is signed by itself'],
    ['is signed by a stranger', 'valid', hurried, 'is signed by an unknown authority'],
  ];

  it('A32 is refused where it has expired, is too early, for another name or of nobody: no request leaves, and all say why', async () => {
    const ends = await Promise.all(
      refused.map(async ([title, certificate, env, words]) => ({
        title,
        words,
        ...(await synced({ certificate }, env)),
      })),
    );
    for (const { title, words, at, asked, host, run } of ends) {
      const said = `Could not reach ${host}: its TLS certificate ${words}.`;
      expect(run, title).toMatchObject({ status: 69, stderr: expect.stringContaining(said) as string });
      expect(run.stderr, title).toContain('Gave up after 6 attempts');
      expect(asked, title).toBe(0);
      expect(at.query('SELECT outcome, error FROM runs'), title).toEqual([
        { outcome: 'failed', error: expect.stringContaining(said) as string },
      ]);
      expect((await at.run('status')).stdout, title).toContain(said);
    }
  });
});

it('A32 a name that no name server knows is told as such by the run and by `status`', async () => {
  // A label of 64 characters cannot be asked for, so that no question leaves this machine.
  const host = `${'x'.repeat(64)}.example`;
  const at = await testbed({
    level: 'program',
    service: { baseUrl: `https://${host}`, token: 'a-token' },
    env: hurried,
  });
  const said = `Could not reach ${host}: its name is unknown to the name server.`;
  expect(await at.run('sync')).toMatchObject({ status: 69, stderr: expect.stringContaining(said) as string });
  expect((await at.run('status')).stdout).toContain(said);
});
