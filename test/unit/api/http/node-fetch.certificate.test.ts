import { readFileSync } from 'node:fs';
import { createServer } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/domain/clock.ts';
import { certificateTimes } from '../../../../src/api/http/node-fetch.ts';
import { certificatePath } from '../../../support/network/http-proxy.ts';
import { listen } from '../../../support/network/listen.ts';

const pem = (name: string): string => readFileSync(certificatePath(name), 'utf8');

async function serving(certificate: string): Promise<URL> {
  const port = await listen(createServer({ cert: pem(certificate), key: pem('key') }, (socket) => socket.end()));
  return new URL(`https://localhost:${port}/path`);
}

describe('the time of a certificate', () => {
  it('is read from the certificate at the address if it is trusted', async () => {
    const times = await certificateTimes(await serving('valid'), { ca: pem('authority') });
    expect(new Date(times?.until ?? 0).getUTCFullYear()).toBeGreaterThan(2100);
    expect(times?.from).toBeLessThan(systemClock.now());
  });

  it('is unknown if the certificate is not trusted, for plain http, and if nobody answers', async () => {
    expect(await certificateTimes(await serving('self-signed'), { ca: pem('authority') })).toBeUndefined();
    expect(await certificateTimes(new URL('http://localhost:1/'))).toBeUndefined();
    expect(await certificateTimes(new URL('https://127.0.0.1:1/'))).toBeUndefined();
  });
});
