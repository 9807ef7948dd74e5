/**
 * Gateways and callbacks in answers. A row without a usable id is set aside, because it may be another integration's.
 */
import { MirrorError } from '../../domain/errors.ts';
import type { Callback, Gateway } from '../../domain/vendor.ts';
import { identifier, lackOf, list, member, parseSuccess, text, truth, type Answered } from './document.ts';
import { readPaging, type Paging } from './vendor-pages.ts';

export interface Listing<T> {
  readonly paging: Paging;
  readonly items: readonly T[];
  /** Why rows cannot be used. */
  readonly rejected: readonly string[];
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
  const found = member(result, name);
  const items = list(found);
  if (!items)
    throw new MirrorError('answer_unreadable', `The answer is not a page of ${name}: ${lackOf(found, name)}.`);
  const usable: T[] = [];
  const rejected: string[] = [];
  for (const [index, item] of items.entries())
    try {
      usable.push(read(item));
    } catch (error) {
      if (!(error instanceof MirrorError)) throw error;
      rejected.push(`Row ${index + 1} of page ${requested} of the ${name}: ${error.message}`);
    }
  return { paging: readPaging(result, requested), items: usable, rejected };
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
