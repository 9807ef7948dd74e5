/** One request to the service, as its endpoints see it. */
import { isMap } from '../../domain/json-cursor.ts';
import type { Account } from '../account/account.ts';
import type { Grant } from '../core/access.ts';
import type { SeededRandom } from '../core/random.ts';
import { htmlPage, invalid, Refusal, unsupported, type Area, type Reply } from '../core/reply.ts';
import type { World } from '../core/worlds.ts';
import { filterIn, pageNames } from '../vendors/list-page.ts';

/** A request as it came; header names in lower case. */
export interface SandboxRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

type Resource = 'vendors' | 'gateways' | 'callbacks';

/** What a path names. */
export interface Target {
  readonly area: Exclude<Area, 'auth'>;
  readonly account: string;
  readonly resource: Resource;
  /** The part after the base path, if there is one. */
  readonly id: string | undefined;
}

export interface Call {
  readonly request: SandboxRequest;
  readonly target: Target;
  readonly account: Account;
  readonly grant: Grant;
  readonly world: World;
  readonly random: SeededRandom;
}

const gatewayPaths = ['systems/gateways', 'system/gateways', 'systems/gateway'];

function resourceAt(
  area: Target['area'],
  name: string,
  { gatewayPath }: Pick<World, 'gatewayPath'>,
): Resource | undefined {
  if (area === 'events') return name === 'events/callbacks' ? 'callbacks' : undefined;
  if (name === 'bill_vendors/bill_vendors') return 'vendors';
  const isGateways = gatewayPath === 'any' ? gatewayPaths.includes(name) : gatewayPath === name;
  return isGateways ? 'gateways' : undefined;
}

/** The target of a path of the service in this world, or in any; undefined for any other path. */
export function targetOf(path: string, world: Pick<World, 'gatewayPath'> = { gatewayPath: 'any' }): Target | undefined {
  const [, area, account = '', name = '', id] =
    /^\/(accounting|events)\/account\/([^/]+)\/([^/]+\/[^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
  if (area !== 'accounting' && area !== 'events') return undefined;
  const resource = resourceAt(area, name, world);
  return resource && { area, resource, account, id };
}

/** The methods that this world answers at a path. */
export function allowedMethods({ resource, id }: Target, world: World): readonly string[] {
  const one = id !== undefined;
  switch (resource) {
    case 'vendors':
      if (!one) return ['GET', 'POST'];
      return world.readOne === '405' ? ['PUT'] : ['GET', 'PUT'];
    case 'gateways':
      return one ? ['DELETE'] : ['GET'];
    case 'callbacks':
      if (!one) return ['GET', 'POST'];
      return world.readCallback === 'yes' ? ['GET', 'PUT', 'DELETE'] : ['PUT', 'DELETE'];
  }
}

const errnoOf: Readonly<Record<string, number>> = { 403: 1003, 404: 1012, 405: 405, 500: 500, 501: 501 };

/** The refusal of a list request that this world need not honour; undefined where it does. @throws Refusal. */
export function refusedOptional({ request, target, account, world }: Call): Reply | undefined {
  const { refuses, refusal } = world;
  if (refuses === 'none' || request.method !== 'GET' || target.id !== undefined) return undefined;
  const size = request.query.get(pageNames(world).perPage);
  account.firstSize ??= size;
  const asked: Readonly<Record<Exclude<World['refuses'], 'none' | 'all'>, boolean>> = {
    state: filterIn(request.query, 'vis_state', world) !== null,
    sizes: size !== null && target.resource === 'vendors' && size !== account.firstSize,
    per_page: size !== null,
    gateways: target.resource === 'gateways',
  };
  if (!(refuses === 'all' ? Object.values(asked).includes(true) : asked[refuses])) return undefined;
  if (refusal === 'html') return htmlPage(200);
  const errno = asked.state || asked.gateways ? (errnoOf[refusal] ?? 1004) : 1013;
  throw new Refusal({ status: Number(refusal), errno, message: 'This is not offered.' });
}

/** 405 for the method of a call, with those that are allowed. */
export function methodRefused({ request, target, world }: Call): Refusal {
  return unsupported(request.method, allowedMethods(target, world));
}

export function headerOf(request: SandboxRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

/** The object that stands under `key` in the JSON body. Refuses other media types, no JSON (400), and no such object (422). */
export function bodyObject({ request }: Pick<Call, 'request'>, key: string): Record<string, unknown> {
  const type = headerOf(request, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json')
    throw new Refusal({ status: 415, errno: 1004, message: 'Content-Type must be application/json.' });
  const body = parse(request.body);
  const value = isMap(body) ? body[key] : undefined;
  if (!isMap(value)) throw invalid(1001, key, key, `Required field: ${key}.`);
  return value;
}

/** The whole number that an id in a path is; NaN, which nothing has, for anything else. */
export function idNumber(id: string): number {
  return /^\d{1,15}$/.test(id) ? Number(id) : NaN;
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    throw new Refusal({ status: 400, errno: 1004, message: 'The request body is not valid JSON.' });
  }
}
