/** One attempt to deliver a message: signs it, sends it and interprets the answer. */
import { Webhook } from 'standardwebhooks';
import { networkCode, unreachable } from '../api/http/network-errors.ts';
import { dateOf, type Clock } from '../domain/clock.ts';
import { MirrorError } from '../domain/errors.ts';
import { AddressRefused, type Post } from '../http/outgoing/post.ts';
import { isLoopback, type NotifyTarget } from '../settings/parse.ts';
import type { Message } from './message.ts';

export type Outcome =
  | { readonly kind: 'accepted' }
  /** The receiver answered 410: it wants no more messages. */
  | { readonly kind: 'gone'; readonly error: MirrorError }
  | { readonly kind: 'failed'; readonly error: MirrorError };

export interface DeliveryDependencies {
  readonly post: Post;
  readonly clock: Clock;
}

/** Sends a message to a target once. @throws the signal's reason where it is aborted; the message may have arrived then. */
export async function deliver(
  target: NotifyTarget,
  { id, body }: Message,
  { post, clock }: DeliveryDependencies,
  signal: AbortSignal,
): Promise<Outcome> {
  const url = new URL(target.url);
  const late = new AbortController();
  const cancel = clock.timer(target.timeout, () => late.abort(new Error('Too late.')));
  const sentAt = dateOf(clock.now());
  try {
    const status = await post({
      url,
      reach: isLoopback(url.hostname) ? 'loopback' : 'public',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'vendor-mirror',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
        'webhook-signature': signatures(target, id, sentAt, body),
      },
      body,
      signal: AbortSignal.any([late.signal, signal]),
    });
    return outcomeOf(target, status);
  } catch (error) {
    signal.throwIfAborted();
    if (late.signal.aborted) return failed(`${target.name} did not answer within ${target.timeout / 1_000} s.`);
    const refused = addressRefused(error);
    return failed(refused ? `${refused}.` : unreachable(url.host, error).message);
  } finally {
    cancel();
  }
}

/** One by each secret: while a secret is replaced, receivers may know either. */
function signatures({ secret }: NotifyTarget, id: string, sentAt: Date, body: string): string {
  const signed = secret
    .reveal()
    .split(' ')
    .map((one) => new Webhook(one).sign(id, sentAt, body));
  return signed.join(' ');
}

function outcomeOf({ name }: NotifyTarget, status: number): Outcome {
  if (status >= 200 && status < 300) return { kind: 'accepted' };
  if (status === 410)
    return {
      kind: 'gone',
      error: new MirrorError('receiver_gone', `${name} answered 410: it wants no more messages.`),
    };
  const redirect = status >= 300 && status < 400 ? ', and redirects are not followed' : '';
  return failed(`${name} answered ${status}${redirect}.`);
}

function failed(message: string): Outcome {
  return { kind: 'failed', error: new MirrorError('receiver_failing', message) };
}

/** Why the address was refused; Node's request may wrap the error as its cause. */
function addressRefused(error: unknown): string | undefined {
  if (error instanceof AddressRefused) return error.message;
  return networkCode(error) === '' && error instanceof Error && error.cause instanceof AddressRefused
    ? error.cause.message
    : undefined;
}
