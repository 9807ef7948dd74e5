/** Reads gateways and callbacks from answers. */
import { MirrorError } from '../../domain/errors.ts';
import type { Callback, Gateway } from '../../domain/vendor.ts';
import { parseSuccess, type Answered } from './document.ts';
import { identifier, list, member, text, truth } from './json.ts';
import { readPaging, type Paging } from './vendor-pages.ts';

/** One page of a short list. */
export interface Listing<T> {
  readonly paging: Paging;
  readonly items: readonly T[];
}

export function readGateways({ bytes }: Answered, requested: number): Listing<Gateway> {
  return readListing(bytes, 'gateways', requested, gateway);
}

export function readCallbacks({ bytes }: Answered, requested: number): Listing<Callback> {
  return readListing(bytes, 'callbacks', requested, callback);
}

/** The callback of an answer to register, verify or resend. */
export function readCallback({ bytes }: Answered): Callback {
  return callback(member(resultOf(bytes), 'callback'));
}

/** Checks the answer to a removal: an empty object, or no body. @throws MirrorError the error that it may contain. */
export function readRemoval({ bytes }: Answered): void {
  if (bytes.length > 0) parseSuccess(bytes);
}

function resultOf(bytes: Uint8Array): unknown {
  return member(member(parseSuccess(bytes), 'response'), 'result');
}

function readListing<T>(bytes: Uint8Array, name: string, requested: number, read: (item: unknown) => T): Listing<T> {
  const result = resultOf(bytes);
  const items = list(member(result, name));
  if (!items) throw new MirrorError('answer_unreadable', `The answer has no response.result.${name}.`);
  return { paging: readPaging(result, requested), items: items.map(read) };
}

function gateway(item: unknown): Gateway {
  return {
    sgid: idOf(item, 'sgid'),
    connectionid: text(member(item, 'connectionid')) ?? null,
    gateway_name: text(member(item, 'gateway_name')) ?? null,
  };
}

function callback(item: unknown): Callback {
  return {
    callbackid: idOf(item, 'callbackid'),
    event: text(member(item, 'event')) ?? '',
    uri: text(member(item, 'uri')) ?? '',
    verified: truth(member(item, 'verified')) ?? false,
  };
}

/** Both resources repeat their id as `id`. */
function idOf(item: unknown, name: string): number {
  const id = identifier(member(item, name)) ?? identifier(member(item, 'id'));
  if (id === undefined) throw new MirrorError('row_unusable', `The answer contains a record without a usable ${name}.`);
  return id;
}
