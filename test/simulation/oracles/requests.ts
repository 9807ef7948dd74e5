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

/**
 * The same for each further hour: a world in which a list stays incomplete until a person says that it is whole lasts a day, and its sweeps try
 * every proof each time.
 */
const boundOfHour = 1_500;

/** When anything, or something of one resource, was asked for, in order, of any account and by whichever process. */
function timesOf(arrivals: readonly Arrival[], resource?: string): number[] {
  const counted = arrivals.filter(({ path }) => resource === undefined || targetOf(path)?.resource === resource);
  return counted.map(({ at }) => at).sort((a, b) => a - b);
}

/** Broken promises, each with its words. */
export function wrongRequests(arrivals: readonly Arrival[], sandbox: Sandbox, plan: Plan): [string, string][] {
  const wrong: [string, string][] = [];
  const hours = Math.floor(Math.max(0, ...timesOf(arrivals).slice(-1)) / (60 * minute));
  if (arrivals.length > (bound + boundOfHour * hours) * plan.accounts)
    wrong.push(['P8', `${arrivals.length} requests were sent`]);
  for (const [what, rate, times] of [
    ['requests', plan.vendorsRate, timesOf(arrivals)],
    ['requests for callbacks', callbacksRate, timesOf(arrivals, 'callbacks')],
  ] as const) {
    const burst = times.findIndex((at, index) => index >= rate && at - times[index - rate]! < minute);
    if (burst >= 0) wrong.push(['P8', `more than ${rate} ${what} within a minute, at ${times[burst]!}`]);
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
