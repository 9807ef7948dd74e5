/**
 * What people do and see in the service's own interface, by request. It is not part of the service's API.
 * `GET /sandbox/account/{account_id}/deliveries` lists what was delivered, and what was answered, latest first;
 * `POST /sandbox/account/{account_id}/events` with `{"event": {"name", "object_id"}}` emits an event;
 * `POST /sandbox/account/{account_id}/gateways/{id}` enables a gateway that was removed.
 */
import type { Account } from '../account/account.ts';
import { bodyObject, idNumber, type SandboxRequest } from './sandbox-call.ts';
import { timestamp } from '../../domain/clock.ts';
import { eventNames } from '../core/access.ts';
import { defaultWorld } from '../core/worlds.ts';
import type { Attempt } from '../delivery/delivery-sender.ts';
import { pageOfRows } from '../vendors/list-page.ts';
import { invalid, nothingThere, unknownResource, unsupported, success, type Reply } from '../core/reply.ts';

const pattern = /^\/sandbox\/account\/([^/]+)\/(?:(events)|(deliveries)|gateways\/([^/]+))$/;

/** Whether a path is one of these endpoints. */
export function isManualPath(path: string): boolean {
  return pattern.test(path);
}

/** @throws Refusal. */
export function answerManual(
  request: SandboxRequest,
  accountOf: (id: string) => Account | undefined,
  attempts: readonly Attempt[],
): Reply {
  const [, id = '', events, deliveries, gateway = ''] = pattern.exec(request.path) ?? [];
  const account = accountOf(id);
  if (!account) throw nothingThere();
  if (deliveries) return listAttempts(request, account, attempts);
  if (request.method !== 'POST') throw unsupported(request.method, ['POST']);
  return events ? emitEvent(request, account) : enable(gateway, account);
}

function listAttempts({ method, query }: SandboxRequest, account: Account, attempts: readonly Attempt[]): Reply {
  if (method !== 'GET') throw unsupported(method, ['GET']);
  const about = query.get('callbackid');
  const matching = attempts.filter(
    (attempt) => attempt.account === account.id && (about === null || about === String(attempt.callbackId)),
  );
  const { rows, numbers } = pageOfRows(matching.reverse(), query, defaultWorld);
  const deliveries = rows.map(({ at, callbackId, kind, event, objectId, attempt, status, problem, outcome }) => ({
    at: timestamp(at),
    callbackid: callbackId,
    uri: account.callbacks.get(callbackId)?.uri ?? null,
    ...{ kind, event, object_id: objectId, attempt, outcome, status: status ?? null, problem: problem ?? null },
  }));
  return success({ deliveries, ...numbers });
}

function emitEvent(request: SandboxRequest, account: Account): Reply {
  const { name, object_id: objectId = 1 } = bodyObject({ request }, 'event');
  if (typeof name !== 'string' || !eventNames.includes(name))
    throw invalid(1004, 'event', 'name', `The name is one of ${eventNames.join(', ')}.`);
  if (typeof objectId !== 'number' || !Number.isSafeInteger(objectId) || objectId < 1)
    throw invalid(1004, 'event', 'object_id', 'The id is a whole number from 1.');
  account.announce(name, objectId);
  return success({ event: { name, object_id: objectId } });
}

function enable(id: string, account: Account): Reply {
  const gateway = account.gateways.enableAgain(idNumber(id));
  if (!gateway) throw unknownResource('gateway', 'sgid', id);
  return success({ gateway: { ...gateway, id: gateway.sgid } });
}
