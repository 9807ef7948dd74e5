/** `doctor` on the listener: whether the public address leads to this daemon. */
import { randomBytes } from 'node:crypto';
import { exchange } from '../../api/http/request.ts';
import type { Settings } from '../../settings/parse.ts';
import { asMirrorError, exitStatus, MirrorError } from '../../domain/errors.ts';
import { isDaemonAt } from '../../store/files/side-lock.ts';
import type { PathTokens } from '../../webhook/receive/account-of-path.ts';
import { challengeHeader, proofHeader, proofOf } from '../../webhook/receive/installation-proof.ts';
import { fine, problem, warning, type Checkup } from './checkup.ts';
import { certificateCheckup } from './doctor-certificates.ts';
import { deliveryPath } from './delivery-path.ts';
import { portCheckup } from './doctor-ports.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { connectionRemedy } from './remedies.ts';

const check = 'public address';

/** Milliseconds for an answer that is made of nothing. */
const requestTimeout = 5_000;

/** `tokens` are those of this installation; undefined where its secrets could not be opened. */
export async function* listenerCheckups(
  context: ProcessContext,
  settings: Settings,
  tokens: PathTokens | undefined,
): AsyncGenerator<Checkup> {
  const isRunning = isDaemonAt(settings.database);
  if (!isRunning) yield await portCheckup(settings);
  if (settings.listener.publicUrl !== null && tokens === undefined) {
    yield warning(
      check,
      'The public address cannot be checked while the files of this installation cannot be opened.',
      'Solve the problems with these files first; they are listed above.',
    );
    return;
  }
  const address = await publicAddress(context, settings, tokens, isRunning);
  yield address;
  const { publicUrl } = settings.listener;
  const [[account, token] = []] = [...(tokens ?? [])];
  if (publicUrl === null || address.result !== 'ok' || account === undefined || !token) return;
  yield await deliveryPath(context, settings, { account, token, publicUrl });
  const certificate = await certificateCheckup('certificate of publicUrl', context, publicUrl);
  if (certificate) yield certificate;
}

async function publicAddress(
  context: ProcessContext,
  { listener }: Settings,
  tokens: PathTokens | undefined,
  isRunning: boolean,
): Promise<Checkup> {
  const { publicUrl, port, host } = listener;
  if (publicUrl === null) return fine(check, 'listener.publicUrl is not set: no webhooks, only sweeps.');
  const seen = await answererAt(context, publicUrl, tokens);
  if (seen === 'ours') return fine(check, `${publicUrl} leads to the daemon of this installation.`);
  const { exit } = seen;
  if (!isRunning)
    return seen.isAnswered
      ? problem(check, {
          message: `${publicUrl} answers, but no daemon of this installation runs.`,
          hint: 'Another program answers there: check listener.publicUrl, and where the proxy forwards it.',
          exit,
        })
      : warning(
          check,
          `${publicUrl} cannot be checked: no daemon of this installation runs.`,
          'Start `vendor-mirror serve`, and run `doctor` again.',
        );
  const local = await answererAt(context, `http://${localHost(host)}:${port}`, tokens);
  if (local !== 'ours')
    return problem(check, {
      message: `The daemon does not answer on port ${port} of this machine. ${local.message}`,
      hint: 'It may have started with other settings: restart it. If another program uses the port, stop that program.',
      exit,
    });
  const hint = seen.isAnswered
    ? 'Another program, or another daemon, answers there: check listener.publicUrl, and where the proxy forwards it.'
    : (seen.remedy ??
      'The daemon listens, but this address does not lead to it: check listener.publicUrl, the proxy, the firewall.');
  return problem(check, { message: seen.message, hint, exit });
}

/** Another program, or none. */
interface Other {
  readonly message: string;
  readonly exit: Checkup['exit'];
  /** Something answered as a listener does, and could not show that it is ours. */
  readonly isAnswered: boolean;
  readonly remedy?: string | undefined;
}

async function answererAt(
  { fetch, clock, interrupted }: ProcessContext,
  base: string,
  tokens: PathTokens | undefined,
): Promise<'ours' | Other> {
  const [account = 'nobody', token] = [...(tokens ?? [])][0] ?? [];
  const challenge = `${account}.${randomBytes(24).toString('base64url')}`;
  const headers = { [challengeHeader]: challenge };
  const request = { url: new URL(`${base}/healthz`), method: 'GET', headers, signal: interrupted };
  try {
    const answer = await exchange(request, { fetch, clock, timeout: requestTimeout });
    if (answer.status !== 200)
      return other(
        new MirrorError('service_unreachable', `${base}/healthz answers with ${answer.status} instead of 200.`),
      );
    if (token && answer.headers.get(proofHeader) === proofOf(token, challenge)) return 'ours';
    return {
      message: `${base} is answered by something other than the daemon of this installation.`,
      exit: exitStatus.unavailable,
      isAnswered: true,
    };
  } catch (error) {
    return other(asMirrorError(error));
  }
}

function other(error: MirrorError): Other {
  return { message: error.message, exit: error.exit, isAnswered: false, remedy: connectionRemedy(error) };
}

/** The name under which this machine reaches a listener of its own. */
function localHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
