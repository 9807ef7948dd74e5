/** The public HTTP listener for the service's webhooks. Checks are ordered from cheap to expensive, and each refusal has its own status. */
import { createHttpServer, type HttpLimits, type HttpServer } from '../../http/server.ts';
import { accountBehind, type PathTokens } from './account-of-path.ts';
import { answerTo, challengeHeader, proofHeader } from './installation-proof.ts';
import { outcomeOfRefusal, statusOf, type Outcome } from './outcomes.ts';
import { DeliveryReceiver, type DeliveryReceiverOptions } from './delivery-receiver.ts';

export interface ListenerOptions extends DeliveryReceiverOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly tokens: PathTokens;
  /** Overrides of the default limits. */
  readonly limits?: Partial<HttpLimits>;
  /** Called for each request with its outcome, and the milliseconds it took after its body had arrived. */
  readonly observe: (outcome: Outcome, ms: number) => void;
}

const largestBody = 16_384;
const retryAfter = { 'retry-after': '5' };

/** `POST /webhooks/{account_id}/{path token}` and `GET /healthz`, nothing else. Starting throws `port_taken`. */
export function createListener(options: ListenerOptions): HttpServer {
  const { clock, log, tokens, observe } = options;
  const receiver = new DeliveryReceiver(options);
  return createHttpServer({
    name: 'the listener',
    host: options.host,
    port: options.port,
    clock,
    ...(options.limits && { limits: options.limits }),
    onFault: (error) => log.error(error),
    onRefusal: (status) => observe(outcomeOfRefusal(status), 0),
    routes: [
      {
        method: 'POST',
        path: '/webhooks/:account/:token',
        admit: ({ path }) => (accountBehind(path, tokens) === undefined ? 404 : undefined),
        accepts: ['application/x-www-form-urlencoded', 'application/json'],
        bodyLimit: largestBody,
        async handle(request) {
          const begun = clock.monotonic();
          // `admit` has checked the account, which is in the path unescaped.
          const outcome = await receiver.receive(request.params['account'] ?? '', request);
          observe(outcome, clock.monotonic() - begun);
          const status = statusOf[outcome];
          return status === 503 ? { status, headers: retryAfter } : { status };
        },
      },
      {
        method: 'GET',
        path: '/healthz',
        handle({ headers }) {
          const proof = answerTo(headers[challengeHeader], tokens);
          return Promise.resolve({ status: 200, body: 'ok\n', ...(proof && { headers: { [proofHeader]: proof } }) });
        },
      },
    ],
  });
}
