/**
 * `doctor` on the way of a delivery: a request like one is sent through the public address, and this installation says what arrived of it. It
 * is signed with nothing, names no token, and is neither journalled nor counted.
 */
import { randomBytes } from 'node:crypto';
import { exchange, type Answer } from '../../api/http/request.ts';
import { asMirrorError, exitStatus } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Settings } from '../../settings/parse.ts';
import { challengeHeader, probePath, probeProof, proofHeader } from '../../webhook/receive/installation-proof.ts';
import { fine, problem, type Checkup } from './checkup.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { connectionRemedy } from './remedies.ts';

const check = 'delivery path';

/** Milliseconds for an answer that is made of nothing. */
const requestTimeout = 5_000;

/** The signature of a probe, and a body with what proxies like to change. */
const signature = 'cHJvYmU=';
const body = 'probe=%C3%A9+%26&empty=';

interface PublicAddress {
  readonly account: string;
  readonly token: Secret;
  readonly publicUrl: string;
}

/** Whether path, signature and body arrive as they are sent, at an address that is known to lead here. */
export async function deliveryPath(
  { fetch, clock, interrupted }: ProcessContext,
  { service }: Settings,
  { account, token, publicUrl }: PublicAddress,
): Promise<Checkup> {
  const header = service.signatureHeader === 'auto' ? 'x-probe-hmac-sha256' : service.signatureHeader;
  const challenge = `${account}.${randomBytes(24).toString('base64url')}`;
  const headers = {
    [challengeHeader]: challenge,
    [header]: signature,
    'content-type': 'application/x-www-form-urlencoded',
  };
  const url = new URL(publicUrl + probePath(account));
  let answer: Answer;
  try {
    const request = { url, method: 'POST', headers, body, signal: interrupted };
    answer = await exchange(request, { fetch, clock, timeout: requestTimeout });
  } catch (error) {
    const { message, hint, exit, cause } = asMirrorError(error);
    return problem(check, { message, hint: connectionRemedy(asMirrorError(cause ?? error)) ?? hint, exit });
  }
  const proof = answer.headers.get(proofHeader);
  const arrived = (seen: string | undefined): string =>
    probeProof(token, challenge, { signature: seen, body: Buffer.from(body) });
  if (proof === arrived(signature))
    return fine(check, 'Path, signature and body of a delivery arrive as they are sent.');
  const { message, hint } = faultOf(proof, arrived(undefined), { header, status: answer.status, publicUrl });
  return problem(check, { message, hint, exit: exitStatus.unavailable });
}

function faultOf(
  proof: string | null,
  unsigned: string,
  { header, status, publicUrl }: { header: string; status: number; publicUrl: string },
): { readonly message: string; readonly hint: string } {
  if (proof === null)
    return {
      message: `A POST to ${publicUrl}/webhooks/… is answered with ${status} by something else, although ${publicUrl}/healthz leads here.`,
      hint: 'Let the proxy pass POST /webhooks/* on to the listener with the path as it is, neither shortened nor decoded.',
    };
  if (proof === unsigned)
    return {
      message: `The signature header of deliveries (such as ${header}) does not arrive.`,
      hint: 'Let the proxy pass all request headers on: without the signature every delivery is refused.',
    };
  return {
    message: 'The body or the signature of a delivery is changed on its way.',
    hint: 'Switch off whatever inspects or rewrites requests in the proxy: a changed delivery is refused.',
  };
}
