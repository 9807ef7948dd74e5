/** What our requests must never do: too many at a time (P8), and touch a gateway or a callback of somebody else (P9). */
import { targetOf } from '../../../src/sandbox/endpoints/sandbox-call.ts';
import type { Sandbox } from '../../../src/sandbox/service.ts';
import { foreignUri, publicUrl, sharedAccount } from '../plan/accounts.ts';
import type { Plan } from '../plan/plan.ts';
import type { Arrival } from '../machine/network.ts';

const minute = 60_000;
const callbacksRate = 20;
/** More than any honest need of so few vendors and minutes. */
const bound = 20_000;

/** When something of a family was asked for on each account, in order, by whichever process: a restart forgets nothing. */
function timesOf(arrivals: readonly Arrival[], family: string): number[][] {
  const times = new Map<string, number[]>();
  for (const { at, path } of arrivals) {
    const target = targetOf(path);
    if (target?.area !== family) continue;
    const list = times.get(target.account);
    if (list) list.push(at);
    else times.set(target.account, [at]);
  }
  return [...times.values()].map((list) => list.sort((a, b) => a - b));
}

/** Broken promises, each with its words. */
export function wrongRequests(arrivals: readonly Arrival[], sandbox: Sandbox, plan: Plan): [string, string][] {
  const wrong: [string, string][] = [];
  if (arrivals.length > bound * plan.accounts) wrong.push(['P8', `${arrivals.length} requests were sent`]);
  for (const [family, rate] of [
    ['accounting', plan.vendorsRate],
    ['events', callbacksRate],
  ] as const)
    for (const times of timesOf(arrivals, family)) {
      const burst = times.findIndex((at, index) => index >= rate && at - times[index - rate]! < minute);
      if (burst >= 0) wrong.push(['P8', `more than ${rate} ${family} requests within a minute, at ${times[burst]!}`]);
    }
  const foreign = sandbox
    .callbacks(sharedAccount)
    .all()
    .find(({ uri }) => uri === foreignUri);
  if (!foreign?.verified) wrong.push(['P9', "somebody else's callback was touched"]);
  for (const { method, path, body } of arrivals) {
    const target = targetOf(path);
    if (target?.resource === 'vendors') continue;
    if (target?.resource !== 'callbacks' ? method !== 'GET' : method === 'POST' && !body.includes(publicUrl))
      wrong.push(['P9', `${method} ${path} was sent`]);
    const isShared = target?.resource === 'callbacks' && target.account === sharedAccount;
    if (isShared && target.id !== undefined && Number(target.id) === foreign?.id)
      wrong.push(['P9', `${method} ${path} was sent, which is somebody else's callback`]);
  }
  return wrong;
}
