/** The gateway endpoints. */
import { gatewaysRead, gatewaysWrite, requireScope } from '../core/access.ts';
import { idNumber, methodRefused, type Call } from './sandbox-call.ts';
import { pageOfRows } from '../core/paging.ts';
import { unknownResource } from '../core/refusal.ts';
import { deleted, success, type Reply } from '../core/reply.ts';

export function answerGateways(call: Call): Reply {
  const { request, target, account, grant, world } = call;
  const { id } = target;
  if (id === undefined && request.method === 'GET') {
    requireScope(grant, gatewaysRead);
    const { rows, numbers } = pageOfRows(account.gateways.all(), request.query, world);
    const { per_page, pages, total, page } = numbers;
    return success({ per_page, pages, total, gateways: rows, page });
  }
  if (id !== undefined && request.method === 'DELETE') {
    requireScope(grant, world.gatewayScope === 'write' ? gatewaysWrite : gatewaysRead);
    if (!account.gateways.remove(idNumber(id))) throw unknownResource('gateway', 'sgid', id);
    return deleted(world.deleteStatus);
  }
  throw methodRefused(call);
}
