/** What our requests must never do: too many at a time (P8), and anything but reading where nobody asked for more (P9). */
import { targetOf } from '../../src/sandbox/call.ts';
import type { Sandbox } from '../../src/sandbox/service.ts';
import { account, foreignUri, publicUrl } from './names.ts';
import type { Plan } from './plan.ts';
import type { Arrival } from './road.ts';

const minute = 60_000;
const callbacksRate = 20;
/** More than any honest need of so few vendors and minutes. */
const bound = 20_000;

/** Broken promises, each with its words. */
export function wrongRequests(arrivals: readonly Arrival[], sandbox: Sandbox, plan: Plan): [string, string][] {
  const wrong: [string, string][] = [];
  if (arrivals.length > bound) wrong.push(['P8', `${arrivals.length} requests were sent`]);
  for (const [family, rate] of [
    ['accounting', plan.vendorsRate],
    ['events', callbacksRate],
  ] as const)
    for (const life of new Set(arrivals.map((arrival) => arrival.life))) {
      const times = arrivals
        .filter((arrival) => arrival.life === life && targetOf(arrival.path)?.area === family)
        .map(({ at }) => at)
        .sort((a, b) => a - b);
      const burst = times.findIndex((at, index) => index >= rate && at - times[index - rate]! < minute);
      if (burst >= 0) wrong.push(['P8', `more than ${rate} ${family} requests within a minute, at ${times[burst]!}`]);
    }
  const foreign = sandbox
    .callbacks(account)
    .all()
    .find(({ uri }) => uri === foreignUri);
  if (!foreign?.verified) wrong.push(['P9', "somebody else's callback was touched"]);
  for (const { method, path, body } of arrivals) {
    const target = targetOf(path);
    if (target?.resource !== 'callbacks' ? method !== 'GET' : method === 'POST' && !body.includes(publicUrl))
      wrong.push(['P9', `${method} ${path} was sent`]);
    if (target?.resource === 'callbacks' && target.id !== undefined && Number(target.id) === foreign?.id)
      wrong.push(['P9', `${method} ${path} was sent, which is somebody else's callback`]);
  }
  return wrong;
}
