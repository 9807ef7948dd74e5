/** Requests to callback addresses that were refused, in words: what was wrong with them, and what a person should do about it. */
import { parseInstant } from '../domain/clock.ts';
import type { ReportedRefusals } from '../store/refusals.ts';

interface Cause {
  /** After a number of requests. */
  readonly words: string;
  readonly remedy: string;
}

const rewritten =
  'Switch off whatever rewrites requests in the proxy. If nothing does, another program sends to this address: `vendor-mirror callbacks list --account ACCOUNT` shows who should.';

const causes: Readonly<Record<string, Cause>> = {
  unsigned: {
    words: 'without a signature that is recognised',
    remedy:
      'Let the proxy pass all request headers on. If the service signs with another header, name it in service.signatureHeader.',
  },
  wrong_signature: {
    words: 'signed with another key, or changed on their way',
    remedy:
      'Run `vendor-mirror doctor`: it tests whether a delivery arrives unchanged. If it does, `vendor-mirror callbacks resend ID --account ACCOUNT`, while the daemon runs, gets a new key.',
  },
  malformed: { words: 'that are no deliveries', remedy: rewritten },
  wrong_type: { words: 'of another form than deliveries have', remedy: rewritten },
  too_large: { words: 'larger than any delivery', remedy: rewritten },
  wrong_method: {
    words: 'by another method than POST',
    remedy: 'Let the proxy pass POST on as it is: a redirect makes another method of it.',
  },
  unknown_path: {
    words: 'to an address that no callback of this installation has',
    remedy:
      "A callback of lost secrets may still be registered: `vendor-mirror callbacks list --account ACCOUNT` shows those that are not this installation's own (`own`: no); `vendor-mirror callbacks delete ID --account ACCOUNT` deletes one.",
  },
  unexpected_code: {
    words: 'with a verification code that nobody awaited',
    remedy: 'If a callback is not verified, run `vendor-mirror doctor`.',
  },
  overloaded: { words: 'while too many waited', remedy: 'The service sends them again.' },
  unavailable: {
    words: 'while nothing could be stored',
    remedy: 'The service sends them again; the log says why.',
  },
};

/** Outcomes that pass by themselves, or say nothing of the deliveries of our callbacks. */
const harmless = new Set(['unknown_path', 'unexpected_code', 'overloaded', 'unavailable']);

/** What was wrong, after the number of requests. */
export function refusalWords(outcome: string, detail: string | null): string {
  const { words } = causes[outcome] ?? { words: `as ${outcome}` };
  return detail === null ? words : `${words} (${detail})`;
}

export function refusalRemedy(outcome: string, account: string): string {
  return causes[outcome]?.remedy.replaceAll('ACCOUNT', account) ?? 'Run `vendor-mirror doctor`.';
}

/** Older ones say nothing of today, in milliseconds. */
const maxAge = 24 * 3_600_000;

/** Requests to addresses that no callback of this installation has; undefined where none came within a day. */
export function unknownPaths(refused: readonly ReportedRefusals[], now: number): ReportedRefusals | undefined {
  return refused.find(({ outcome, last_at }) => outcome === 'unknown_path' && isRecent(last_at, now));
}

function isRecent(at: string, now: number): boolean {
  return Math.abs(now - (parseInstant(at) ?? -Infinity)) < maxAge;
}

/** The refused requests after which nothing was accepted, the most frequent first. */
export function unsolvedRefusals(
  refused: readonly ReportedRefusals[],
  lastDelivery: string | null,
  now: number,
): ReportedRefusals[] {
  return refused
    .filter(
      ({ outcome, last_at }) => !harmless.has(outcome) && isRecent(last_at, now) && last_at > (lastDelivery ?? ''),
    )
    .sort((a, b) => b.recent - a.recent);
}

/** How many callbacks a sentence names. */
const named = 5;

/** Callbacks at the service that lead here, and that other secrets registered. */
export function unknownCallbacksText(ids: readonly number[]): string {
  const shown = ids.slice(0, named).join(', ');
  const which =
    ids.length === 1
      ? `The callback ${shown} at the service leads`
      : `The callbacks ${shown}${ids.length > named ? ' and others' : ''} at the service lead`;
  return `${which} to this installation, but ${ids.length === 1 ? 'was' : 'were'} registered with other secrets: what comes of ${ids.length === 1 ? 'it' : 'them'} is refused.`;
}

export function unknownCallbacksRemedy(ids: readonly number[], account: string): string {
  const commands = ids.slice(0, named).map((id) => `\`vendor-mirror callbacks delete ${id} --account ${account}\``);
  return `If this mirror should have had its earlier files, stop it and check \`database\` and \`secrets\` in the settings. Otherwise delete ${ids.length === 1 ? 'it' : 'them'}: ${commands.join(', ')}.`;
}
