/** The vendor and gateway endpoints. */
import { gatewaysRead, gatewaysWrite, requireScope, vendorsRead, vendorsWrite } from '../core/access.ts';
import { deleted, denied, success, unknownResource, type Reply } from '../core/reply.ts';
import type { Wire } from '../core/vendor-record.ts';
import { listVendors, pageOfRows } from '../vendors/list-page.ts';
import { readVendorInput, requireOnCreate } from '../vendors/vendor-service.ts';
import { bodyObject, idNumber, methodRefused, type Call } from './sandbox-call.ts';

export function answerVendors(call: Call): Reply {
  const { method } = call.request;
  const { id } = call.target;
  if (id === undefined && method === 'GET') return list(call);
  if (id === undefined && method === 'POST') return create(call);
  if (id !== undefined && method === 'GET') return readOne(call, id);
  if (id !== undefined && method === 'PUT') return edit(call, id);
  throw methodRefused(call);
}

function list({ request, account, grant, world, random }: Call): Reply {
  requireScope(grant, vendorsRead);
  const view = account.vendors.listView(copyAge(world.listLag, random.fraction()));
  const listed = listVendors(view, account.vendors.sequence(random), request.query, world);
  if (listed === 'no such page')
    return { status: 404, html: '<!doctype html><title>Not found</title><h1>Not found</h1>' };
  const { rows, numbers } = listed;
  return success({ bill_vendors: rows.map((row) => account.vendors.wire(row, 'list')), ...numbers });
}

function create(call: Call): Reply {
  requireScope(call.grant, vendorsWrite);
  const fields = bodyObject(call, 'bill_vendor');
  requireOnCreate(readVendorInput(fields), call.world);
  return success({ bill_vendor: call.account.vendors.create(fields) }, Number(call.world.createStatus));
}

function readOne(call: Call, id: string): Reply {
  const { account, grant, world, random } = call;
  requireScope(grant, vendorsRead);
  if (world.readOne === '405') throw methodRefused(call);
  if (world.readOne === '404') throw unknownVendor(id);
  const found = account.vendors.find(idNumber(id), copyAge(world.readLag, random.fraction()));
  if (found === 'unreadable' && world.readUnlisted === 'denied') throw denied(1003, 'Access denied.');
  if (found === 'unreadable') throw unknownVendor(id);
  if (!found || (found.state === 1 && world.readDeleted === '404')) throw unknownVendor(id);
  return success({ bill_vendor: account.vendors.wire(found, 'single') });
}

function edit(call: Call, id: string): Reply {
  requireScope(call.grant, vendorsWrite);
  const vendor: Wire | undefined = call.account.vendors.edit(idNumber(id), bodyObject(call, 'bill_vendor'));
  if (!vendor) throw unknownVendor(id);
  return success({ bill_vendor: vendor });
}

function unknownVendor(id: string): Error {
  return unknownResource('bill_vendor', 'vendorid', id);
}

/** One of three copies answers: one is current, one lags by half, one by all of `lag` seconds. In milliseconds. */
function copyAge(lag: number, fraction: number): number {
  return (Math.floor(fraction * 3) / 2) * lag * 1_000;
}

export function answerGateways(call: Call): Reply {
  const { request, target, account, grant, world } = call;
  const { id } = target;
  if (id === undefined && request.method === 'GET') {
    requireScope(grant, gatewaysRead);
    const { rows, numbers } = pageOfRows(account.gateways.all(), request.query, world);
    const { per_page, pages, total, page } = numbers;
    const others = world.brokenRows === 'one' ? [{ sgid: null, id: null, gateway_name: 'other' }] : [];
    return success({ per_page, pages, total, gateways: [...others, ...rows], page });
  }
  if (id !== undefined && request.method === 'DELETE') {
    requireScope(grant, world.gatewayScope === 'write' ? gatewaysWrite : gatewaysRead);
    if (!account.gateways.remove(idNumber(id))) throw unknownResource('gateway', 'sgid', id);
    return deleted(world.deletedGateway);
  }
  throw methodRefused(call);
}
