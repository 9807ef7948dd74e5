/** Writes the POSTs that a callback receives: its verification code, and the events it registered for. */
import type { CallbackBook } from './callback-book.ts';
import type { CallbackRecord } from '../core/callback-record.ts';
import type { SeededRandom } from '../core/random.ts';
import type { OutgoingDelivery, DeliveryKind } from './delivery-sender.ts';
import { sign, type Parameters } from './sign.ts';
import type { World } from '../core/worlds.ts';

/** Ids that deliveries of an account name. */
export interface Sender {
  readonly account: string;
  readonly businessId: number;
  readonly identityId: number;
  readonly userId: number;
}

const form = 'application/x-www-form-urlencoded';
const signatureHeader = 'X-Service-Hmac-SHA256';

/** The verification of a callback, with the code it has when it is sent. */
export function verificationDelivery(
  sender: Sender,
  callbacks: CallbackBook,
  id: number,
  world: World,
): OutgoingDelivery {
  return {
    account: sender.account,
    callbackId: id,
    kind: 'verification',
    event: 'callback.verify',
    objectId: id,
    compose() {
      const callback = callbacks.get(id);
      if (!callback || callback.verified) return undefined;
      const parameters: Parameters = [
        ['user_id', String(sender.userId)],
        ['name', 'callback.verify'],
        ['verifier', callback.verifier],
        ['object_id', String(id)],
        ['account_id', sender.account],
        ['system', 'https://sandbox.example'],
      ];
      const asJson = world.handshakeForm === 'json';
      return {
        uri: callback.uri,
        headers: {
          'content-type': asJson ? 'application/json' : form,
          ...(world.handshakeSigned === 'yes' ? { [signatureHeader]: sign(parameters, callback.verifier, world) } : {}),
        },
        body: asJson ? JSON.stringify(Object.fromEntries(parameters)) : encode(parameters),
      };
    },
  };
}

/** One event for one callback. A forged one has an invalid signature. */
export function eventDelivery(
  sender: Sender,
  callbacks: CallbackBook,
  callback: CallbackRecord,
  subject: { readonly kind: DeliveryKind; readonly event: string; readonly objectId: number },
  random: SeededRandom,
  world: World,
): OutgoingDelivery {
  const objectId = world.objectId === 'callback' ? callback.id : subject.objectId;
  const parameters = random.shuffle([
    ['name', subject.event],
    ['object_id', String(objectId)],
    ['account_id', sender.account],
    ['business_id', String(sender.businessId)],
    ['identity_id', String(sender.identityId)],
    ['user_id', String(sender.userId)],
    ...(world.extraParameter === 'present' ? [['origin', 'Büro «Zürich» / 東京\u007f'] as const] : []),
  ] as const);
  const forgedKey = subject.kind === 'forged' ? random.text(32, 'abcdef0123456789') : undefined;
  return {
    account: sender.account,
    callbackId: callback.id,
    ...subject,
    compose() {
      const current = callbacks.get(callback.id);
      if (!current?.verified || current.disabled) return undefined;
      const key = forgedKey ?? (world.signAt === 'event' ? callback.verifier : current.verifier);
      return {
        uri: current.uri,
        headers: { 'content-type': form, [signatureHeader]: sign(parameters, key, world) },
        body: encode(parameters),
      };
    },
  };
}

function encode(parameters: Parameters): string {
  return new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, value])).toString();
}
