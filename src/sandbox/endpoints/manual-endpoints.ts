/**
 * What people do in the service's own interface, by request. It is not part of the service's API.
 * `POST /sandbox/account/{account_id}/events` with `{"event": {"name", "object_id"}}` emits an event;
 * `POST /sandbox/account/{account_id}/gateways/{id}` enables a gateway that was removed.
 */
import type { Account } from '../account/account.ts';
import { bodyObject, idNumber, type SandboxRequest } from './sandbox-call.ts';
import { eventNames } from '../core/access.ts';
import { invalid, nothingThere, unknownResource, unsupported, success, type Reply } from '../core/reply.ts';

const pattern = /^\/sandbox\/account\/([^/]+)\/(?:(events)|gateways\/([^/]+))$/;

/** Whether a path is one of these endpoints. */
export function isManualPath(path: string): boolean {
  return pattern.test(path);
}

/** @throws Refusal. */
export function answerManual(request: SandboxRequest, accountOf: (id: string) => Account | undefined): Reply {
  const [, id = '', events, gateway = ''] = pattern.exec(request.path) ?? [];
  const account = accountOf(id);
  if (!account) throw nothingThere();
  if (request.method !== 'POST') throw unsupported(request.method, ['POST']);
  return events ? emitEvent(request, account) : enable(gateway, account);
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
