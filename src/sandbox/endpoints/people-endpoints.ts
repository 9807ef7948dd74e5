/**
 * What people do in the service's own interface, on request: no part of the service's API, and only here to be tried.
 * `POST /sandbox/account/{account_id}/events` with `{"event": {"name", "object_id"}}` makes an event happen;
 * `POST /sandbox/account/{account_id}/gateways/{id}` enables a gateway that was removed.
 */
import type { Account } from '../account/account.ts';
import { bodyObject, idNumber, type SandboxRequest } from './sandbox-call.ts';
import { eventNames } from '../core/event-scopes.ts';
import { invalid, nothingThere, unknownResource, unsupported } from '../core/refusal.ts';
import { success, type Reply } from '../core/reply.ts';

const pattern = /^\/sandbox\/account\/([^/]+)\/(?:(events)|gateways\/([^/]+))$/;

/** Whether a path is one of these. */
export function isOfPeople(path: string): boolean {
  return pattern.test(path);
}

/** Does what is asked for. @throws Refusal. */
export function answerPeople(request: SandboxRequest, accountOf: (id: string) => Account | undefined): Reply {
  const [, id = '', events, gateway = ''] = pattern.exec(request.path) ?? [];
  const account = accountOf(id);
  if (!account) throw nothingThere();
  if (request.method !== 'POST') throw unsupported(request.method, ['POST']);
  return events ? makeHappen(request, account) : enable(gateway, account);
}

function makeHappen(request: SandboxRequest, account: Account): Reply {
  const { name, object_id: objectId = 1 } = bodyObject({ request }, 'event');
  if (typeof name !== 'string' || !eventNames.includes(name))
    throw invalid(1004, 'event', 'name', `The name is one of ${eventNames.join(', ')}.`);
  if (typeof objectId !== 'number' || !Number.isSafeInteger(objectId) || objectId < 1)
    throw invalid(1004, 'event', 'object_id', 'The id is a whole number from 1.');
  account.announce(name, objectId);
  return success({ event: { name, object_id: objectId } });
}

function enable(id: string, account: Account): Reply {
  const gateway = account.gateways.comeBack(idNumber(id));
  if (!gateway) throw unknownResource('gateway', 'sgid', id);
  return success({ gateway: { ...gateway, id: gateway.sgid } });
}
