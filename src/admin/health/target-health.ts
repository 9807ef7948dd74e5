/** How the receivers of outgoing webhooks are, and what a person should do about one. */
import { parseInstant } from '../../domain/clock.ts';
import { catalogue } from '../../domain/errors.ts';
import type { TargetReport } from '../../store/outbox/outbox-report.ts';

export type DeliveryState = 'delivering' | 'failing' | 'disabled';

/** A receiver that accepted nothing for so long, in milliseconds, needs a person: it has been tried once a minute since. */
const longestFailure = 15 * 60_000;

export function deliveryState({
  disabled_at,
  failing_since,
}: Pick<TargetReport, 'disabled_at' | 'failing_since'>): DeliveryState {
  if (disabled_at !== null) return 'disabled';
  return failing_since === null ? 'delivering' : 'failing';
}

/** Sentences, each with its remedy; none if the target needs no attention. */
export function targetAdvice(report: TargetReport, now: number): string[] {
  const { target, disabled_at, parked, parked_error } = report;
  if (disabled_at !== null) return [`${target} answered 410. ${catalogue.receiver_gone.hint}`];
  const vendors = parked === 1 ? 'one vendor' : `${parked} vendors`;
  const again = `\`vendor-mirror notify retry ${target}\` sends them again.`;
  const givenUp = `${target}: the changes of ${vendors} were given up${because(parked_error)} ${again}`;
  return [...longFailure(report, now), ...(parked > 0 ? [givenUp] : [])];
}

/** What to do about a receiver that has accepted nothing for long; nothing where it is not so. */
export function longFailure({ target, failing_since, last_error }: TargetReport, now: number): string[] {
  if (failing_since === null || now - (parseInstant(failing_since) ?? now) < longestFailure) return [];
  const moment = failing_since.slice(0, 19);
  const hint = catalogue.receiver_failing.hint;
  return [`${target} has accepted nothing since ${moment} UTC${because(last_error)} ${hint}`];
}

/** The end of a sentence, with its cause where that is known; an error is a sentence of its own. */
function because(error: string | null): string {
  return error === null ? '.' : `: ${error}`;
}
