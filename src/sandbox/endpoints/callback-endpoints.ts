/** The callback endpoints. */
import { timestamp } from '../../domain/clock.ts';
import { requireScope, filterMatches, scopeOf } from '../core/access.ts';
import { allowedMethods, bodyObject, idNumber, methodRefused, type Call } from './sandbox-call.ts';
import type { CallbackRecord } from '../core/memory.ts';
import { filterIn, pageOfRows } from '../vendors/list-page.ts';
import { invalid, Refusal, unknownResource, deleted, success, type Reply } from '../core/reply.ts';
import type { Wire } from '../core/vendor-record.ts';
import type { World } from '../core/worlds.ts';

export async function answerCallbacks(call: Call): Promise<Reply> {
  const { method } = call.request;
  const { id } = call.target;
  if (id === undefined) {
    if (method === 'GET') return list(call);
    if (method === 'POST') return register(call);
    throw methodRefused(call);
  }
  if (!allowedMethods(call.target, call.world).includes(method)) throw methodRefused(call);
  const callback = call.account.callbacks.get(idNumber(id));
  if (!callback) throw unknownResource('callback', 'callbackid', id);
  if (method === 'GET') return success({ callback: callbackOnWire(callback, call.world) });
  if (method === 'PUT') return change(call, callback);
  call.account.callbacks.remove(callback.id);
  return deleted(call.world.deletedCallback);
}

function list({ account, request, world }: Call): Reply {
  const { query } = request;
  const [event, uri, verified] = ['event', 'uri', 'verified'].map((name) => filterIn(query, name, world));
  const matching = account.callbacks
    .all()
    .filter((callback) => !(callback.disabled && world.disabled === 'absent'))
    .filter((callback) => event == null || filterMatches(event, callback.event))
    .filter((callback) => uri == null || uri === callback.uri)
    .filter((callback) => verified == null || verified === String(shownVerified(callback, world)));
  const { rows, numbers } = pageOfRows(matching, query, world);
  const others =
    world.brokenRows === 'one' ? [{ callbackid: null, event: 'invoice.create', uri: 'https://other.example/' }] : [];
  const callbacks = [...others, ...rows.map((callback) => listedOnWire(callback, world))];
  return success({ callbacks, ...numbers });
}

async function register(call: Call): Promise<Reply> {
  const { account, grant, world } = call;
  const { event, uri: given } = readRegistration(bodyObject(call, 'callback'));
  const uri = spelled(given, world);
  requireScope(grant, scopeOf(event) ?? '');
  const same = account.callbacks.all().some((callback) => callback.event === event && callback.uri === uri);
  if (same && world.duplicate === '422')
    throw invalid(1004, 'callback', 'uri', 'This event is already registered for this uri.', uri);
  const callback = account.callbacks.add(account.clock.now(), event, uri);
  await account.sendVerification(callback.id);
  return success({ callback: callbackOnWire(callback, world) });
}

async function change(call: Call, callback: CallbackRecord): Promise<Reply> {
  const { account, world } = call;
  const body = bodyObject(call, 'callback');
  if (body['resend'] === true) {
    account.callbacks.renew(account.clock.now(), callback, world.resentCode);
    await account.sendVerification(callback.id);
  } else {
    const code = body['verifier'];
    if (typeof code !== 'string') throw invalid(1001, 'callback', 'verifier', 'Field required');
    const right = account.callbacks.verify(account.clock.now(), callback, code);
    if (!right && world.wrongVerifier === '4xx')
      throw invalid(1004, 'callback', 'verifier', 'Value error, the verifier is wrong.');
    if (!right) return success({ callback: { ...callbackOnWire(callback, world), verified: false } });
  }
  return success({ callback: callbackOnWire(account.callbacks.get(callback.id) ?? callback, world) });
}

function readRegistration(body: Record<string, unknown>): { event: string; uri: string } {
  const { event, uri } = body;
  const known = typeof event === 'string' && scopeOf(event) !== undefined;
  const reachable = typeof uri === 'string' && /^https?:\/\//i.test(uri) && URL.canParse(uri);
  if (known && reachable) return { event, uri };
  const details = [
    ...(known ? [] : ['event: Value error, Unrecognized event.']),
    ...(reachable ? [] : ['uri: Input should be a valid URL, relative URL without a base']),
  ];
  const message = 'The callback is not valid.';
  throw new Refusal({ status: 422, errno: 1004, object: 'callback', field: known ? 'uri' : 'event', message, details });
}

function spelled(uri: string, { callbackUri }: World): string {
  if (callbackUri === 'slash') return `${uri}/`;
  const last = uri.slice(-1);
  return callbackUri === 'escaped' ? `${uri.slice(0, -1)}%${last.charCodeAt(0).toString(16)}` : uri;
}

/** As register, verify and resend answer it. */
function callbackOnWire(callback: CallbackRecord, world: World): Wire {
  const { id, event, uri } = callback;
  return {
    callbackid: id,
    ...(world.callbackKeys === 'both' ? { id } : {}),
    event,
    ...(world.callbackUri === 'unnamed' ? {} : { uri }),
    verified: shownVerified(callback, world),
  };
}

/** As the list shows it, in another order, as captured. */
function listedOnWire(callback: CallbackRecord, world: World): Wire {
  const { id, event, uri, updated } = callback;
  const time = timestamp(updated).slice(0, 19);
  return {
    callbackid: id,
    ...(world.callbackKeys === 'both' ? { id } : {}),
    verified: shownVerified(callback, world),
    ...(world.callbackUri === 'unnamed' ? {} : { uri }),
    event,
    updated_at: world.callbackTime === 'plain' ? time : `${time.replace(' ', 'T')}Z`,
  };
}

function shownVerified({ verified, disabled }: CallbackRecord, world: World): boolean {
  return verified && (!disabled || world.disabled === 'silent');
}
