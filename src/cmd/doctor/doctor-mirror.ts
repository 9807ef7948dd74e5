/** `doctor` on what the mirror says of an account: whether it is paused, how old it is, and what could not be read. */
import { age } from '../../domain/age.ts';
import { judge, type AccountHealth, type ProblemCode } from '../../health/judge.ts';
import type { Settings } from '../../settings/parse.ts';
import type { ParkedReason } from '../../store/reports/parked.ts';
import { fine, warning, type Checkup } from './checkup.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { mirrorFacts } from '../setup/mirror-facts.ts';
import { openMirror } from '../setup/open-mirror.ts';
import { counted } from '../terminal/counted.ts';

export async function mirrorCheckups(context: ProcessContext, settings: Settings, account: string): Promise<Checkup[]> {
  const health = await healthOf(context, settings, account);
  return health ? [freshness(context, health), queue(health.facts.parkedFor)] : [];
}

/** That an account is paused: then nothing is requested about it, not even to check. */
export async function pausedCheckup(
  context: ProcessContext,
  settings: Settings,
  account: string,
): Promise<Checkup | undefined> {
  const health = await healthOf(context, settings, account);
  const paused = health?.problems.find(({ code }) => code === 'paused');
  return paused && warning('paused', paused.message, `\`vendor-mirror accounts resume ${account}\` resumes it.`);
}

async function healthOf(
  context: ProcessContext,
  settings: Settings,
  account: string,
): Promise<AccountHealth | undefined> {
  const mirror = openMirror(context, settings);
  try {
    return judge(await mirrorFacts(context, settings, mirror, account), context.clock.now()).accounts.find(
      ({ facts }) => facts.account === account,
    );
  } finally {
    await mirror?.close();
  }
}

const ofAge = new Set<ProblemCode>(['first_pull', 'never_mirrored', 'clock_set_back', 'stale']);

function freshness({ clock }: ProcessContext, { facts, problems, error }: AccountHealth): Checkup {
  const check = 'freshness';
  const found = problems.find(({ code }) => ofAge.has(code));
  if (!found) return fine(check, `The lists were read ${age(clock, facts.freshness.listed_as_of)}.`);
  const why = found.remedy === null && error?.run.error ? ` The last run said: ${error.run.error}` : '';
  return warning(check, `${found.message}${why}`, found.remedy ?? error?.hint ?? 'Run `vendor-mirror status`.');
}

function queue(parked: readonly ParkedReason[]): Checkup {
  const check = 'queue';
  const [first] = parked;
  if (!first) return fine(check, 'No changed vendor was given up.');
  const vendors = parked.reduce((sum, reason) => sum + reason.vendors, 0);
  const why = first.error === null ? '' : ` Most often: ${first.error}`;
  return warning(
    check,
    `${counted(vendors, 'changed vendor')} could not be read and wait${vendors === 1 ? 's' : ''} for the next reconciliation.${why}`,
    'Remove the cause; then `vendor-mirror deliveries retry` tries again at once.',
  );
}
