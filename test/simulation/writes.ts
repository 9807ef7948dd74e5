/** What writes must never do (P9): leave without a person's word, or again where a look would have shown that they were carried out. */
import { targetOf } from '../../src/sandbox/endpoints/sandbox-call.ts';
import type { Chapter, Chronicle } from './event-log.ts';
import type { Arrival } from './network.ts';
import type { Intent } from './person.ts';

export interface WriteWitness {
  readonly account: string;
  readonly intents: readonly Intent[];
  readonly eventLog: Chronicle;
  /** How long the service may answer from an old copy, in milliseconds. */
  readonly lag: number;
}

/** A request of the program to write, as it reached the service. */
interface Sent {
  readonly arrival: Arrival;
  readonly intent: Intent;
  /** Which of the intent's calls it belongs to. */
  readonly call: number;
}

/** Broken promises, in words. */
export function wrongWrites(arrivals: readonly Arrival[], witness: WriteWitness): string[] {
  const { account, intents } = witness;
  const wrong: string[] = [];
  const sent: Sent[] = [];
  for (const arrival of arrivals) {
    const target = targetOf(arrival.path);
    if (arrival.method === 'GET' || target?.resource !== 'vendors' || target.account !== account) continue;
    const asked = intents.flatMap((intent) => {
      const isOfIt =
        arrival.body === JSON.stringify({ bill_vendor: intent.fields }) &&
        (target.id === undefined ? undefined : Number(target.id)) === intent.vendorid;
      const call = isOfIt ? lastCall(intent, arrival) : -1;
      return call < 0 ? [] : [{ arrival, intent, call }];
    });
    const latest = asked.sort((one, other) => fromOf(one) - fromOf(other)).at(-1);
    if (latest) sent.push(latest);
    else wrong.push(`${arrival.method} ${arrival.path} was sent, and nobody asked for it`);
  }
  for (const intent of intents)
    wrong.push(
      ...repeated(
        intent,
        sent.filter((one) => one.intent === intent),
        witness,
      ),
    );
  return wrong;
}

function lastCall({ calls }: Intent, { life, at }: Arrival): number {
  return calls.findLastIndex((call) => call.life === life && call.from <= at);
}

function fromOf({ intent, call }: Sent): number {
  return intent.calls[call]!.from;
}

/** What was sent again, although it was carried out and a look showed that, or would have shown it. */
function repeated(intent: Intent, sent: readonly Sent[], { eventLog, lag }: WriteWitness): string[] {
  const who = `${JSON.stringify(intent.fields)} of vendor ${intent.vendorid ?? 'new'}`;
  return sent.slice(1).flatMap(({ arrival, call }, index) => {
    const before = sent.slice(0, index + 1).filter((earlier) => earlier.arrival.isCarriedOut === true);
    if (before.some((earlier) => earlier.call === call)) return [`${who} was sent twice at once, at ${arrival.at}`];
    const { from } = intent.calls[call]!;
    const look = intent.looks.findLast((at) => at < from) ?? -Infinity;
    const [first] = before;
    // What was still on its way while somebody looked, nobody could see.
    if (first && look < intent.calls[first.call]!.from)
      return [`${who} was sent again without a look, at ${arrival.at}`];
    if (first && look >= first.arrival.at + lag && isThere(intent, eventLog, look - lag))
      return [`${who} was sent again although it was carried out at ${first.arrival.at}, at ${arrival.at}`];
    return [];
  });
}

/** Whether a vendor that was created stood where lists show it. What became of an edit afterwards is no excuse. */
function isThere({ vendorid, fields }: Intent, eventLog: Chronicle, at: number): boolean {
  if (vendorid !== undefined) return true;
  const name = `"vendor_name":${JSON.stringify(fields.vendor_name)}`;
  const isOfName = (chapter: Chapter | undefined): boolean =>
    chapter?.key?.includes(name) === true && (chapter.state === 0 || chapter.state === 2);
  return eventLog.vendors.some(
    (id) => isOfName(eventLog.of(id)[eventLog.at(id, at)]) && isOfName(eventLog.of(id).at(-1)),
  );
}
