/**
 * What writes must never do (P9): leave without a person's word, or again where a look would have shown that they were carried out; and
 * what a person was told is done must be so at the service.
 */
import { targetOf } from '../../../src/sandbox/endpoints/sandbox-call.ts';
import type { WholeRecord, EventLog } from './event-log.ts';
import type { Arrival } from '../machine/network.ts';
import type { Intent } from '../events/write-record.ts';

export interface WriteEvidence {
  readonly account: string;
  readonly intents: readonly Intent[];
  readonly eventLog: EventLog;
  /** How long the service may answer from an old copy, in milliseconds. */
  readonly lag: number;
  /** When the account's list was asked for, and came empty although it is not. */
  readonly emptied: readonly number[];
}

/** A request of the program to write, as it reached the service. */
interface Sent {
  readonly arrival: Arrival;
  readonly intent: Intent;
  /** Which of the intent's calls it belongs to. */
  readonly call: number;
}

/** Broken promises, in words. */
export function wrongWrites(arrivals: readonly Arrival[], observer: WriteEvidence): string[] {
  const { account, intents } = observer;
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
    const byTime = asked.sort((one, other) => fromOf(one) - fromOf(other));
    // Of two people who ask for the same at once, each has it sent once.
    const latest = byTime.findLast((one) => !isCarriedOut(one, sent)) ?? byTime.at(-1);
    if (latest) sent.push(latest);
    else wrong.push(`${arrival.method} ${arrival.path} was sent, and nobody asked for it`);
  }
  for (const intent of intents) {
    const ofIntent = sent.filter((one) => one.intent === intent);
    wrong.push(...repeated(intent, ofIntent, observer), ...untrue(intent, observer));
  }
  return wrong;
}

function isCarriedOut({ intent, call }: Sent, sent: readonly Sent[]): boolean {
  return sent.some((one) => one.intent === intent && one.call === call && one.arrival.isCarriedOut === true);
}

function lastCall({ calls }: Intent, { daemon, at }: Arrival): number {
  return calls.findLastIndex((call) => call.daemon === daemon && call.from <= at);
}

function fromOf({ intent, call }: Sent): number {
  return intent.calls[call]!.from;
}

function words({ fields, vendorid }: Intent): string {
  return `${JSON.stringify(fields)} of vendor ${vendorid ?? 'new'}`;
}

/** What was sent again, although it was carried out and a look showed that, or would have shown it. */
function repeated(intent: Intent, sent: readonly Sent[], observer: WriteEvidence): string[] {
  const { eventLog, lag, emptied } = observer;
  const who = words(intent);
  return sent.slice(1).flatMap((one, index) => {
    const { arrival, call } = one;
    const from = fromOf(one);
    const done = sent.slice(0, index + 1).filter((earlier) => earlier.arrival.isCarriedOut === true);
    if (done.some((earlier) => earlier.call === call)) return [`${who} was sent twice at once, at ${arrival.at}`];
    if (intent.calls[call]!.again) return [];
    const closed = closedAt(intent, from, observer.intents);
    // The same request again, after the person was told what came of it, is a new write.
    const [first] = done.filter((earlier) => fromOf(earlier) > closed);
    if (!first) return [];
    const look = intent.looks.findLast((at) => at < from) ?? -Infinity;
    // What was still on its way while the vendor was read could not be seen.
    if (look < fromOf(first)) return [`${who} was sent again without a look, at ${arrival.at}`];
    // A new mirror knows of no vendor by which it could tell that an empty list is none.
    const before = sent[index]!.arrival.at;
    if (intent.vendorid === undefined && emptied.some((at) => at > before && at <= arrival.at)) return [];
    if (look >= first.arrival.at + lag && isThere(intent, eventLog, look - lag))
      return [`${who} was sent again although it was carried out at ${first.arrival.at}, at ${arrival.at}`];
    return [];
  });
}

/**
 * When the matter was last closed: the person was told what came of it; or by another command on the vendor: one that asked for the same
 * fields, and perhaps for more, was told that it is done, or one that shares a field said `--again`.
 */
function closedAt(intent: Intent, before: number, intents: readonly Intent[]): number {
  const own = [...intent.told.map(({ at }) => at), ...intent.refused].filter((at) => at <= before);
  return Math.max(-Infinity, ...own, closedByAnother(intent, before, intents));
}

function closedByAnother({ vendorid, fields }: Intent, before: number, intents: readonly Intent[]): number {
  if (vendorid === undefined) return -Infinity;
  const names = Object.keys(fields);
  const moments = intents.flatMap((other) => {
    if (other.vendorid !== vendorid) return [];
    const isAskedFor = (name: string): boolean => Object.hasOwn(other.fields, name);
    const told = names.every(isAskedFor) ? other.told.map(({ at }) => at) : [];
    const again = names.some(isAskedFor) ? other.calls.filter((call) => call.again).map(({ from }) => from) : [];
    return [...told, ...again];
  });
  return Math.max(-Infinity, ...moments.filter((at) => at <= before));
}

/** Whether a vendor that was created stood where lists show it. What happened to an edit afterwards does not matter. */
function isThere(intent: Intent, eventLog: EventLog, at: number): boolean {
  if (intent.vendorid !== undefined) return true;
  const isListed = (record: WholeRecord | undefined): boolean =>
    shows(intent, record) && (record?.state === 0 || record?.state === 2);
  return eventLog.vendors.some((id) => {
    const records = eventLog.records(id);
    return isListed(records.findLast((record) => record.at <= at)) && isListed(records.at(-1));
  });
}

/** What a person was told is done, although the service never had it so by then. */
function untrue(intent: Intent, { eventLog }: WriteEvidence): string[] {
  return intent.told.flatMap(({ at, vendorid }) =>
    eventLog.records(vendorid).some((record) => record.at <= at && shows(intent, record))
      ? []
      : [`${words(intent)} was told to be done at ${at}, and vendor ${vendorid} never was so`],
  );
}

/** Whether a version of a vendor is as it is asked for. */
function shows({ fields }: Intent, record: WholeRecord | undefined): boolean {
  return Object.entries(fields).every(([name, value]) =>
    name === 'vis_state'
      ? record?.state === value
      : record?.json.includes(`${JSON.stringify(name)}:${JSON.stringify(value)}`) === true,
  );
}
