/** Whether webhooks arrive, in one sentence. */
import { parseInstant } from '../../../domain/clock.ts';
import { inWords } from '../../../domain/duration.ts';
import type { AccountFacts } from '../../health/health.ts';
import type { Tone } from '../../health/headline.ts';
import { counted } from '../parts/format.ts';

export interface WebhookVerdict {
  readonly tone: Tone;
  readonly words: string;
}

type WebhookFacts = Pick<AccountFacts, 'watchdog' | 'callbacks' | 'freshness' | 'lastDelivery' | 'days'>;

/** A delivery younger than this proves that deliveries arrive. */
const recent = 24 * 3_600_000;

export function webhookVerdict(facts: WebhookFacts, now: number): WebhookVerdict {
  const { watchdog, callbacks: registered, freshness, lastDelivery } = facts;
  if (watchdog === 'off')
    return { tone: 'fair', words: 'Off: listener.publicUrl is not set, so only sweeps find changes' };
  if (registered.length === 0) return { tone: 'bad', words: 'Dead: no callback is registered' };
  if (freshness.callback_verified === 0) return { tone: 'bad', words: 'Dead: no callback is verified' };
  if (watchdog === 'silent') return { tone: 'bad', words: 'Dead: sweeps find changes that no delivery announced' };
  const missed = missedAfter(facts);
  if (missed > 0) {
    const since = lastDelivery === null ? 'no delivery ever arrived, and' : 'since the last delivery';
    const words = `Doubtful: ${since} sweeps found ${counted(missed, 'change')} that should have been announced`;
    return { tone: 'fair', words };
  }
  if (lastDelivery === null)
    return { tone: 'fair', words: 'Not proven: the callback is verified, but no delivery has arrived yet' };
  const silentFor = now - (parseInstant(lastDelivery) ?? 0);
  if (silentFor < recent) return { tone: 'good', words: 'Alive' };
  const silent = `Quiet for ${inWords(silentFor)}: the callback is verified`;
  return (freshness.last_complete_sweep ?? '') > lastDelivery
    ? { tone: 'good', words: `${silent}, and no sweep found a change that should have been announced` }
    : { tone: 'fair', words: `${silent}, but there was no complete sweep since, so missed changes are unknown` };
}

/** Changes that sweeps found on the days after that of the last delivery, and that no delivery announced. */
function missedAfter({ lastDelivery, days }: WebhookFacts): number {
  const after = (lastDelivery ?? '').slice(0, 10);
  return days.filter(({ day }) => day > after).reduce((total, day) => total + day.unannounced_changes, 0);
}
