/** The public HTTP listener for the service's webhooks. Checks are ordered from cheap to expensive, and each refusal has its own status. */
import { limits } from '../domain/limits.ts';
import type { HttpLimits } from '../http/connection-limits.ts';
import { trustedBy, type TrustedProxies } from '../http/networks.ts';
import { HttpServer, type HttpAnswer, type HttpRequest, type HttpRoute, type RefusedRequest } from '../http/server.ts';
import {
  accountOfPath,
  answerTo,
  answerToProbe,
  challengeHeader,
  isProbe,
  processHeader,
  proofHeader,
  type PathTokens,
  type ProofTokens,
} from './address.ts';
import {
  DeliveryReceiver,
  outcomeOfRefusal,
  statusOf,
  type DeliveryReceiverOptions,
  type Outcome,
} from './delivery-receiver.ts';
import { signatureIn } from './delivery.ts';

export interface ListenerOptions extends DeliveryReceiverOptions, ProofTokens {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Path tokens before, while rotations are under way: deliveries are still taken there, and no codes. */
  readonly previousTokens: PathTokens;
  /** A random name of this process. */
  readonly process: string;
  /** Proxies whose connections carry the deliveries of everybody. */
  readonly trustedProxies: TrustedProxies;
  readonly limits?: Partial<HttpLimits>;
  /** Called for each request with its outcome, and the milliseconds it took after its body had arrived. */
  readonly observe: (outcome: Outcome, ms: number) => void;
}

const retryAfter = { 'retry-after': '5' };

/** `POST /webhooks/{account_id}/{path token}`, `GET /healthz` and probes, nothing else. Starting throws `port_taken`. */
export function createListener(options: ListenerOptions): HttpServer {
  const { clock, log, tokens, previousTokens, observe, onRefused } = options;
  const accountAt = (path: string): string | undefined =>
    accountOfPath(path, tokens) ?? accountOfPath(path, previousTokens);
  const receiver = new DeliveryReceiver(options);
  return new HttpServer({
    name: 'the listener',
    host: options.host,
    port: options.port,
    portSetting: 'listener.port in the settings; of the built-in sandbox, `vendor-mirror serve --port N`',
    clock,
    limits: { isProxy: trustedBy(options.trustedProxies), ...options.limits },
    onFault: (error) => log.error(error),
    onRefusal(status, request) {
      const outcome = outcomeOfRefusal(status);
      observe(outcome, 0);
      const account = request && (accountAt(request.path) ?? addressedAccount(request, tokens));
      if (account !== undefined) onRefused(account, outcome, detailOf(outcome, request));
    },
    routes: [
      // Some services add a slash to an address.
      ...['/webhooks/:account/:token', '/webhooks/:account/:token/'].map((path): HttpRoute => ({
        method: 'POST',
        path,
        admit: ({ path, headers }) =>
          accountAt(path) === undefined && !isProbe(path, headers[challengeHeader]) ? 404 : undefined,
        accepts: ['application/x-www-form-urlencoded', 'application/json'],
        bodyLimit: limits.deliveryBody,
        async handle(request) {
          if (isProbe(request.path, request.headers[challengeHeader])) return probed(request, options);
          const begun = clock.monotonic();
          // `admit` has checked it.
          const account = accountAt(request.path) ?? '';
          const takesCodes = accountOfPath(request.path, tokens) === account;
          const outcome = await receiver.receive(account, request, { takesCodes });
          observe(outcome, clock.monotonic() - begun);
          const status = statusOf[outcome];
          return status === 503 ? { status, headers: retryAfter } : { status };
        },
      })),
      {
        method: 'GET',
        path: '/healthz',
        handle({ headers }) {
          const proof = answerTo(headers[challengeHeader], options);
          const proven = proof && { headers: { [proofHeader]: proof, [processHeader]: options.process } };
          return Promise.resolve({ status: 200, body: 'ok\n', ...proven });
        },
      },
    ],
  });
}

/** The account of a POST to an address that was ours: its path token is another one. */
function addressedAccount({ method, path }: RefusedRequest, tokens: PathTokens): string | undefined {
  const [start, webhooks, accountId = '', token = '', ...more] = path.replace(/\/$/, '').split('/');
  const isAddress = method === 'POST' && start === '' && webhooks === 'webhooks' && token !== '' && more.length === 0;
  return isAddress && tokens.has(accountId) ? accountId : undefined;
}

const mediaType = /^[\w.+-]{1,40}\/[\w.+-]{1,40}$/;

/** What was wrong with a request that no handler saw; nothing that could be secret. */
function detailOf(outcome: Outcome, request: RefusedRequest | undefined): string | null {
  if (outcome === 'wrong_method') return request?.method ?? null;
  if (outcome !== 'wrong_type') return null;
  const { 'content-type': type = '', 'content-encoding': encoding } = request?.headers ?? {};
  if (encoding !== undefined) return 'compressed';
  const [media = ''] = type.split(';', 1);
  return mediaType.test(media) ? media.toLowerCase() : 'no media type';
}

/** Says what arrived of a probe. Nothing is journalled or counted. */
function probed({ headers, rawHeaders, body }: HttpRequest, options: ListenerOptions): HttpAnswer {
  const signature = signatureIn(rawHeaders, options.signatureHeader);
  const proof = answerToProbe(String(headers[challengeHeader]), { signature, body }, options);
  return { status: 200, headers: { [proofHeader]: proof } };
}
