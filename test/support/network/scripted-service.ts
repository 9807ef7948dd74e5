/** A service whose answers are written down beforehand, and a client that talks to it with a clock and random numbers of the test. */
import type { AttemptFacts } from '../../../src/api/caller.ts';
import type { ServiceClient } from '../../../src/api/client.ts';
import { defaultSettings } from '../settings.ts';
import { constantRandom } from '../random.ts';
import { virtualClock, type VirtualClock } from '../virtual-clock.ts';
import { connectTo, freeReservations, type Changes } from './connect-to.ts';
import { network, intercept, type Sent } from './intercept.ts';

const baseUrl = 'https://api.service.example';
export const token = 'canary-access-token-5f2c';

export type Scripted = Response | Error | ((sent: Sent) => Response | Promise<Response>);

export interface ScriptedService {
  readonly client: ServiceClient;
  readonly clock: VirtualClock;
  readonly sent: (Sent & { readonly at: number })[];
  readonly observed: AttemptFacts[];
  /** Numbers of the stamps that were taken. */
  readonly stamps: number[];
}

/** A client whose n-th request gets the n-th answer; the last one stays. */
export function scriptedService(
  answers: readonly Scripted[],
  changes: Changes = {},
  account = '6BApk',
): ScriptedService {
  const clock = virtualClock({ auto: true, deadline: 600_000 });
  const sent: ScriptedService['sent'] = [];
  const observed: AttemptFacts[] = [];
  const stamps: number[] = [];
  intercept(baseUrl, (request) => {
    const answer = answers[Math.min(sent.length, answers.length - 1)];
    sent.push({ ...request, at: clock.monotonic() });
    if (answer === undefined) throw new Error('Nothing is scripted.');
    return typeof answer === 'function' ? answer(request) : answer;
  });
  const client = connectTo(
    { baseUrl, account, token },
    {
      timeout: 600_000,
      rateLimit: defaultSettings.service.rateLimit,
      clock,
      random: constantRandom(),
      fetch: (...request) => clock.busy(network(...request)),
      reserveRequest: freeReservations(() => {
        stamps.push(stamps.length + 1);
        return { readSeq: stamps.length, begun: clock.monotonic() };
      }),
      observe: (facts) => observed.push(facts),
      ...changes,
    },
  );
  return { client, clock, sent, observed, stamps };
}
