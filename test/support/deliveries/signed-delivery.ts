/** A valid delivery, signed with a verifier that testbeds know from the start. */
import { createHmac } from 'node:crypto';
import { Secret } from '../../../src/domain/secret.ts';
import { account } from '../names.ts';

/** Stands in the secrets from the start, as if proven for callback 77. */
export const knownVerifier = new Secret('canary-verifier-0123456789abcdef');

export const delivery: Readonly<Record<string, string>> = {
  name: 'bill_vendor.update',
  object_id: '1001',
  account_id: account,
  business_id: '4242',
  identity_id: '99',
  user_id: '1',
};

export const formType = 'application/x-www-form-urlencoded';

/** As Python's json.dumps would, for plain texts; the signature's own tests know better ones. */
export function signed(
  parameters: Readonly<Record<string, string>>,
  verifier = knownVerifier.reveal(),
): { method: string; headers: Record<string, string>; body: string } {
  const text = `{${Object.entries(parameters)
    .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
    .join(', ')}}`;
  return {
    method: 'POST',
    headers: {
      'content-type': formType,
      'x-service-hmac-sha256': createHmac('sha256', verifier).update(text).digest('base64'),
    },
    body: new URLSearchParams(parameters).toString(),
  };
}
