/** What each failure of each request by which an account subscribes may change, and that nothing keeps the next check from repairing it. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FaultKind } from '../../../src/sandbox/core/worlds.ts';
import { ask } from '../../support/mirror-file.ts';
import { account } from '../../support/names.ts';
import { announce, listed, type WebhookOptions, type WebhookTestbed } from '../../support/testbed/webhook.ts';
import { testbed } from '../../support/testbed.ts';

/** From the failing request on the service fails so at everything; what is refused is refused at this request alone. */
const outages = ['500', '429', 'reset', 'stall', 'truncated', '401', '403'] as const satisfies readonly FaultKind[];
const refusals = ['404', '422'] as const;
type Fault = (typeof outages)[number] | (typeof refusals)[number];

/** The request was carried out, and its answer is lost. */
const carriedOut: readonly Fault[] = ['stall', 'truncated'];

interface Request {
  readonly method: string;
  readonly body: string;
}

interface Row {
  readonly request: string;
  readonly options?: WebhookOptions;
  /** What is the case before. */
  readonly before?: (place: WebhookTestbed) => void;
  readonly isMet: (request: Request, place: WebhookTestbed) => boolean;
  /** By what it is asked; the check where it is left out. */
  readonly ask?: (place: WebhookTestbed) => Promise<unknown>;
  /** How many registrations of the day are used up by the attempt. */
  readonly registrations: (fault: Fault) => number;
  /** Callbacks that the service has afterwards. */
  readonly callbacks: (fault: Fault) => readonly number[];
}

const isRefusal = (fault: Fault): boolean => (refusals as readonly Fault[]).includes(fault);

const rows: readonly Row[] = [
  {
    request: 'the list',
    isMet: ({ method }) => method === 'GET',
    registrations: () => 0,
    callbacks: () => [],
  },
  {
    request: 'a registration',
    isMet: ({ method }) => method === 'POST',
    // What is refused is none; after another failure only the list can tell, which fails as well.
    registrations: (fault) => (isRefusal(fault) || ['401', '403', '429'].includes(fault) ? 0 : 1),
    callbacks: (fault) => (carriedOut.includes(fault) ? [2001] : []),
  },
  {
    request: 'the verification',
    isMet: ({ method, body }) => method === 'PUT' && body.includes('verifier'),
    registrations: () => 1,
    callbacks: () => [2001],
  },
  {
    request: 'the list after a verification',
    isMet: ({ method }, place) => method === 'GET' && listed(place).length > 0,
    registrations: () => 1,
    callbacks: () => [2001],
  },
  {
    request: 'a new code for a callback whose key is lost',
    before: (place) => {
      const book = place.service.sandbox.callbacks(account);
      book.verify(0, book.add(0, 'bill_vendor', place.address), book.get(2001)!.verifier);
    },
    isMet: ({ body }) => body.includes('resend'),
    registrations: () => 0,
    callbacks: () => [2001],
  },
  {
    request: 'a new code that revives a callback which vanished',
    options: { subscribed: true, world: ['disabled=absent', 'duplicate=second'] },
    before: (place) => place.service.sandbox.callbacks(account).disable(0, 2001),
    isMet: ({ body }) => body.includes('resend'),
    registrations: (fault) => (isRefusal(fault) ? 2 : 1),
    callbacks: (fault) => (isRefusal(fault) ? [2001, 2002] : [2001]),
  },
  {
    request: 'the removal of a duplicate',
    options: { subscribed: true, world: ['duplicate=second'] },
    before: (place) => void place.service.sandbox.callbacks(account).add(0, 'bill_vendor', place.address),
    isMet: ({ method }) => method === 'DELETE',
    registrations: () => 1,
    callbacks: (fault) => (carriedOut.includes(fault) ? [2001] : [2001, 2002]),
  },
  {
    request: 'the removal by a person',
    options: { subscribed: true },
    isMet: ({ method }) => method === 'DELETE',
    ask: ({ subscriptions }) => subscriptions.unregister().catch(String),
    registrations: () => 1,
    callbacks: (fault) => (carriedOut.includes(fault) ? [] : [2001]),
  },
];

/** More requests than one attempt sends. */
const mostRequests = 40;

/** After this long another code may be requested, in milliseconds. */
const untilResent = 600_000;

/** Turns of the event loop without news, and without an answer that is on its way, after which only time can bring some. */
const idleTurns = 200;

/** Lets time pass whenever nothing else goes on since the request failed, until the work is done. An answer that stalls never arrives. */
async function ended(place: WebhookTestbed, fault: Fault, state: State, work: Promise<unknown>) {
  const { clock, requests, outcomes } = place;
  const progress = { isEnded: false };
  const end = (): void => void (progress.isEnded = true);
  work.then(end, end);
  for (let [idle, seen] = [0, '']; !progress.isEnded; idle += 1) {
    await clock.yield();
    const now = [state.isBegun, requests.length, outcomes.length, clock.pending().length, clock.monotonic()].join();
    if (now !== seen || (fault !== 'stall' && place.unanswered() > 0)) idle = 0;
    seen = now;
    const [next] = clock.pending();
    if (state.isBegun && idle >= idleTurns && next !== undefined) await clock.advance(next);
  }
}

interface State {
  isReady: boolean;
  isBegun: boolean;
  isMended: boolean;
}

const registrations = ({ folder }: WebhookTestbed): unknown =>
  ask<{ count: number }>(join(folder, 'secrets.db'), 'SELECT count(*) AS count FROM registrations')[0]?.count;

/** A place where the request fails, and after it everything where the fault is an outage, until it is mended. */
async function failing(row: Row, fault: Fault) {
  const state: State = { isReady: false, isBegun: false, isMended: false };
  const isFailing = (request: Request, all: boolean): boolean => {
    if (!state.isReady || state.isMended) return false;
    const isMet = row.isMet(request, place);
    state.isBegun ||= isMet;
    return isMet || (all && state.isBegun);
  };
  const place: WebhookTestbed = await testbed({
    level: 'webhook',
    ...row.options,
    intercept: (method, body) =>
      isRefusal(fault) && isFailing({ method, body }, false)
        ? Response.json({ errno: Number(fault), message: 'Refused.' }, { status: Number(fault) })
        : undefined,
  });
  row.before?.(place);
  if (!isRefusal(fault))
    for (let count = 0; count < mostRequests; count += 1)
      place.service.sandbox.faults.next({
        kind: fault as FaultKind,
        match: ({ method, body }) => isFailing({ method, body: Buffer.from(body).toString() }, true),
      });
  state.isReady = true;
  return { place, state };
}

const keys = async ({ secrets }: WebhookTestbed): Promise<string[]> =>
  (await secrets.verifiers.usable(account)).map((key) => key.reveal());

describe.each(rows)('$request', (row) => {
  it.each<Fault>([...outages, ...refusals])(
    'L68 that fails (%s) changes only what it may, and is repaired',
    async (fault) => {
      const { place, state } = await failing(row, fault);
      const before = await keys(place);
      await ended(place, fault, state, row.ask?.(place) ?? place.subscriptions.check());
      expect(state.isBegun).toBe(true);
      expect({
        registrations: registrations(place),
        callbacks: listed(place).map(({ id }) => id),
        keys: await keys(place),
      }).toEqual({
        registrations: row.registrations(fault),
        callbacks: row.callbacks(fault),
        keys: expect.arrayContaining(before) as unknown,
      });

      state.isMended = true;
      await place.clock.advance(untilResent);
      if (row.ask) {
        await row.ask(place);
        expect(listed(place)).toEqual([]);
        return;
      }
      expect(await place.another().check()).toBe('verified');
      expect(listed(place).filter(({ verified, disabled }) => verified && !disabled)).toHaveLength(1);
      expect(await announce(place)).toBe(200);
    },
  );
});
