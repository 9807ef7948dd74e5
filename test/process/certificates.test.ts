/** A service that cannot be reached: its name is unknown, or whoever answers has no valid certificate for it. */
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { certificatePath, httpProxy, type HttpProxyOptions } from '../support/network/http-proxy.ts';
import { listen } from '../support/network/listen.ts';
import { until } from '../support/testbed/daemon-process.ts';
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
  it('is accepted if it is valid, for this name, and signed by a trusted authority', async () => {
    const { at, asked, run } = await synced({ certificate: 'valid' });
    expect([run.status, run.stderr]).toEqual([0, expect.not.stringContaining('warning')]);
    expect(at.query('SELECT count(*) AS n FROM vendors')).toEqual([{ n: 5 }]);
    expect(asked).toBeGreaterThan(0);
  });

  const refused: [title: string, certificate: string, env: Record<string, string>, words: string][] = [
    ['has expired', 'expired', trusting, 'has expired (or the clock of this machine is wrong)'],
    ['is not valid yet', 'early', trusting, 'is not valid yet (or the clock of this machine is wrong)'],
    ['is for another name', 'elsewhere', trusting, 'is for another name'],
    ['is self-signed', 'self-signed', trusting, 'is self-signed'],
    ['is signed by a stranger', 'valid', hurried, 'is signed by an unknown authority'],
  ];

  it('A32 is refused if it has expired, is not yet valid, is for another name or has no trusted authority: no request is sent, and the message says why', async () => {
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

describe('the certificate of a receiver of webhooks', () => {
  it('is checked like that of the service; a message is signed by each of two secrets', async () => {
    const [fresh, old] = [1, 2].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`) as [string, string];
    const [trusted, own] = [await receiver('valid'), await receiver('self-signed')];
    const target = (name: string, port: number): string =>
      `{ name: ${name}, url: "https://localhost:${port}/", secret: "${fresh} ${old}" }`;
    const world = await testbed({ level: 'sandbox', vendors: 5 });
    const at = await testbed({
      level: 'program',
      service: world,
      listens: true,
      settings: `sync: { lag: 0s }\nnotify: [${target('trusted', trusted.port)}, ${target('own', own.port)}]`,
      env: trusting,
    });
    const daemon = await at.serve();
    await until(() => trusted.received.length > 0 && at.query('SELECT 1 FROM _notify_queue').length > 0);
    const { headers, body } = trusted.received[0]!;
    for (const secret of [fresh, old])
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
        type: expect.stringMatching(/^vendor\./) as string,
      });
    await until(() => daemon.stderr().includes('certificate is self-signed'));
    expect(own.received).toEqual([]);
    expect(await daemon.end(), daemon.stderr()).toBe(0);
  });
});

/** A receiver of webhooks on this machine, with a certificate of the fixtures. */
async function receiver(certificate: string) {
  const received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
  const key = readFileSync(certificatePath('key'));
  const server = createServer({ key, cert: readFileSync(certificatePath(certificate)) }, (request, response) => {
    void text(request).then((body) => {
      received.push({ headers: request.headers, body });
      response.writeHead(204).end();
    });
  });
  return { received, port: await listen(server) };
}

it('A32 an unknown host name is reported as such by the run and by `status`', async () => {
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
