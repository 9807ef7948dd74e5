/** `doctor` on the listener: whether the service can reach it. */
import { exchange } from '../../api/http/request.ts';
import type { Settings } from '../../settings/parse.ts';
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import { fine, problem, warning, type Checkup } from './checkup.ts';
import type { ProcessContext } from '../process/process-context.ts';

const check = 'public address';

/** Milliseconds for an answer that is made of nothing. */
const requestTimeout = 5_000;

export async function listenerCheckup(context: ProcessContext, { listener }: Settings): Promise<Checkup> {
  const { publicUrl, port } = listener;
  if (publicUrl === null) return fine(check, 'No listener.publicUrl is set: no webhooks, only sweeps.');
  const refusal = await healthOf(context, publicUrl);
  if (!refusal) return fine(check, `${publicUrl} answers.`);
  if (!(await healthOf(context, `http://${localHost(listener.host)}:${port}`)))
    return problem(check, unreachable(refusal));
  return warning(
    check,
    `${publicUrl} cannot be tried: no daemon listens on port ${port} of this machine.`,
    'Start `vendor-mirror serve`, and ask again.',
  );
}

/** Why an address does not answer as a listener does; undefined where it does. */
async function healthOf({ fetch, clock, interrupted }: ProcessContext, base: string): Promise<MirrorError | undefined> {
  const request = { url: new URL(`${base}/healthz`), method: 'GET', headers: {}, signal: interrupted };
  try {
    const { status } = await exchange(request, { fetch, clock, timeout: requestTimeout });
    return status === 200
      ? undefined
      : new MirrorError('service_unreachable', `${base}/healthz answers with ${status} instead of 200.`);
  } catch (error) {
    return asMirrorError(error);
  }
}

function unreachable({ message, exit }: MirrorError): Pick<MirrorError, 'message' | 'hint' | 'exit'> {
  const hint =
    'The daemon listens, and this address does not lead to it: check listener.publicUrl, the proxy, the firewall.';
  return { message, hint, exit };
}

/** The name under which this machine reaches a listener of its own. */
function localHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
