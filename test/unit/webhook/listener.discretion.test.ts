import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/domain/log.ts';
import { delivery, knownVerifier, signed } from '../../support/deliveries/signed-delivery.ts';
import { account } from '../../support/names.ts';
import { testbed, type TestbedOptions } from '../../support/testbed.ts';

const post = (to: string, init: RequestInit) => fetch(to, init);

describe('secrets', () => {
  it('path token, verifier, code and signature are in no log line and not in the mirror', async () => {
    const lines: string[] = [];
    const log = createLog('trace', { write: (line) => void lines.push(line) });
    const options: TestbedOptions<'listener'> = {
      log,
      mirror: () => ({ acceptDeliveries: () => Promise.reject(new Error('The disk is gone.')) }),
    };
    const at = await testbed({ level: 'listener', ...options });
    const sent = signed(delivery);
    await post(at.address, sent);
    await post(at.address, signed(delivery, 'wrong'));
    await at.secrets.verifiers.expect(account, 'bill_vendor', 77);
    const code = 'canary-code-9876543210';
    await post(at.address, {
      method: 'POST',
      body: new URLSearchParams({ name: 'callback.verify', verifier: code }),
    });
    expect(at.outcomes).toEqual(['unavailable', 'wrong_signature', 'verification']);
    expect(lines.map((line) => (JSON.parse(line) as { level: number }).level).filter((level) => level > 20)).toEqual([
      50, 40,
    ]);
    const everything =
      lines.join('') + readFileSync(at.mirror.path, 'latin1') + readFileSync(`${at.mirror.path}-wal`, 'latin1');
    const token = at.address.slice(at.address.lastIndexOf('/') + 1);
    for (const secret of [token, knownVerifier.reveal(), code, sent.headers['x-service-hmac-sha256'] ?? ''])
      expect(everything).not.toContain(secret);
  });
});
