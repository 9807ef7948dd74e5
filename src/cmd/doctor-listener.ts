/**
 * `doctor` on the listener: whether the public address leads to this daemon, and a delivery arrives as it was sent.
 *
 * A challenge proves that `listener.publicUrl` leads to this installation: `/healthz` of the listener answers `X-Vendor-Mirror-Challenge:
 * ACCOUNT.NONCE` with an HMAC keyed by that account's path token, which is never sent; for an unknown account with one that nobody can
 * check. A second proves that deliveries arrive as they are sent: a `POST` to `/webhooks/ACCOUNT/probe`, with a signature header and a body
 * that proxies like to change, is answered with an HMAC over what arrived of both. Probes are neither recorded nor counted.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { exchange, type Answer } from '../api/http/request.ts';
import { asMirrorError, codeOf, exitStatus, MirrorError } from '../domain/errors.ts';
import type { Secret } from '../domain/secret.ts';
import type { Settings } from '../settings/parse.ts';
import {
  challengeHeader,
  probePath,
  probeProof,
  proofHeader,
  type PathTokens,
  answererAt as askAnswererAt,
  answerTimeout,
} from '../webhook/address.ts';
import { certificateCheckup, fine, problem, warning, type Checkup } from './doctor-checkup.ts';
import { isDaemonThere } from './open-mirror.ts';
import type { ProcessContext } from './process/process-context.ts';

const check = 'public address';

/** `tokens` are those of this installation; undefined where its secrets could not be opened. */
export async function* listenerCheckups(
  context: ProcessContext,
  settings: Settings,
  tokens: PathTokens | undefined,
): AsyncGenerator<Checkup> {
  const isUnopened = tokens === undefined && settings.listener.publicUrl !== null;
  const isRunning = await hasDaemon(context, settings);
  if (isRunning === false) yield await portCheckup(settings);
  if (isUnopened)
    yield warning(
      check,
      'The public address cannot be checked while the files of this installation cannot be opened.',
      'Solve the problems with these files first; they are listed above.',
    );
  if (isUnopened || isRunning === undefined) return;
  const address = await publicAddress(context, settings, tokens, isRunning);
  yield address;
  const { publicUrl } = settings.listener;
  const [[account, token] = []] = [...(tokens ?? [])];
  if (publicUrl === null || address.result !== 'ok' || account === undefined || !token) return;
  yield await deliveryPath(context, settings, { account, token, publicUrl });
  const certificate = await certificateCheckup('certificate of publicUrl', context, publicUrl);
  if (certificate) yield certificate;
}

/** Undefined where its lock cannot be looked at; why, was reported with the files. */
function hasDaemon(context: ProcessContext, settings: Settings): Promise<boolean | undefined> {
  return isDaemonThere(context, settings).catch(() => undefined);
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
  try {
    const { status, isOurs } = await askAnswererAt(base, { account, token }, { fetch, clock, signal: interrupted });
    if (status !== 200)
      return other(new MirrorError('service_unreachable', `${base}/healthz answers with ${status} instead of 200.`));
    if (isOurs) return 'ours';
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
  return { message: error.message, exit: error.exit, isAnswered: false, remedy: error.remedy };
}

/** The name under which this machine reaches a listener of its own. */
function localHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

const pathCheck = 'delivery path';

/** The signature of a probe, and a body with what proxies like to change. */
const signature = 'cHJvYmU=';
const body = 'probe=%C3%A9+%26&empty=';

interface PublicAddress {
  readonly account: string;
  readonly token: Secret;
  readonly publicUrl: string;
}

/**
 * Whether path, signature and body of a delivery arrive as they are sent, at an address that is known to lead here: a request like one is
 * sent there, and this installation says what arrived. It is signed with nothing, names no token, and is neither journalled nor counted.
 */
async function deliveryPath(
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
    answer = await exchange(request, { fetch, clock, timeout: answerTimeout });
  } catch (error) {
    return problem(pathCheck, asMirrorError(error));
  }
  const proof = answer.headers.get(proofHeader);
  const arrived = (seen: string | undefined): string =>
    probeProof(token, challenge, { signature: seen, body: Buffer.from(body) });
  if (proof === arrived(signature))
    return fine(pathCheck, 'Path, signature and body of a delivery arrive as they are sent.');
  const { message, hint } = faultOf(proof, arrived(undefined), { header, status: answer.status, publicUrl });
  return problem(pathCheck, { message, hint, exit: exitStatus.unavailable });
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

/** Both ports, bound for a moment each. */
async function portCheckup({ listener, admin }: Settings): Promise<Checkup> {
  const check = 'ports';
  for (const [name, { host, port }] of Object.entries({ listener, admin })) {
    const code = await bindingFault(host, port);
    if (code !== undefined)
      return problem(check, {
        message: `The daemon could not listen on ${host}:${port} (${code}).`,
        hint: hintOf(code, name),
        exit: exitStatus.unavailable,
      });
  }
  return fine(check, `The daemon can listen on ${listener.port} and ${admin.port}.`);
}

function hintOf(code: string, name: string): string {
  if (code === 'EADDRINUSE')
    return `Another program uses this port: stop it, or choose another ${name}.port. \`ss -ltnp\` shows which program it is.`;
  if (code === 'EACCES') return `Choose a ${name}.port above 1023; a proxy may listen on 443 and forward to it.`;
  return `${name}.host is not an address of this machine: choose one that is, or 127.0.0.1.`;
}

async function bindingFault(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    return undefined;
  } catch (error) {
    return codeOf(error) ?? 'unknown';
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}
