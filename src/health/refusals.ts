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
      'A callback of lost secrets may still be registered: find it by `vendor-mirror callbacks list --account ACCOUNT`, and delete it if it is yours.',
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

/** The refused requests after which nothing was accepted, the most frequent first. */
export function unsolvedRefusals(
  refused: readonly ReportedRefusals[],
  lastDelivery: string | null,
  now: number,
): ReportedRefusals[] {
  return refused
    .filter(({ outcome, last_at }) => {
      const isRecent = Math.abs(now - (parseInstant(last_at) ?? -Infinity)) < maxAge;
      return !harmless.has(outcome) && isRecent && last_at > (lastDelivery ?? '');
    })
    .sort((a, b) => b.recent - a.recent);
}
