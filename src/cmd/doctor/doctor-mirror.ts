/** `doctor` on what the mirror says of an account: how old it is, and what could not be read. */
import { age } from '../../domain/age.ts';
import { parseInstant } from '../../domain/clock.ts';
import { inWords } from '../../domain/duration.ts';
import { catalogue } from '../../domain/errors.ts';
import type { Settings } from '../../settings/parse.ts';
import { accountSummaries, type AccountSummary } from '../../store/reports/account-reports.ts';
import { isDaemonAt } from '../../store/files/side-lock.ts';
import type { Snapshot } from '../../store/sqlite/query.ts';
import { parkedReasons, type ParkedReason } from '../../store/reports/parked.ts';
import { fine, warning, type Checkup } from './checkup.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { openMirror } from '../setup/open-mirror.ts';
import { counted } from '../terminal/counted.ts';

export async function* mirrorCheckups(
  context: ProcessContext,
  settings: Settings,
  accountId: string,
): AsyncGenerator<Checkup> {
  const found = await ask(context, settings, (snapshot) => ({
    summary: accountSummaries(snapshot, 1)(accountId),
    parked: parkedReasons(snapshot)(accountId),
  }));
  if (!found?.summary) return;
  yield freshness(context, settings, found.summary);
  yield queue(found.parked);
}

/** That an account is paused: then nothing is requested about it, not even to check. */
export async function pausedCheckup(
  context: ProcessContext,
  settings: Settings,
  accountId: string,
): Promise<Checkup | undefined> {
  const summary = await ask(context, settings, (snapshot) => accountSummaries(snapshot, 1)(accountId));
  const since = summary?.freshness.paused_since ?? null;
  if (since === null) return undefined;
  return warning(
    'paused',
    `Since ${since.slice(0, 19)} UTC nothing is requested from the service, and deliveries are stored.`,
    `\`vendor-mirror accounts resume ${accountId}\` resumes it.`,
  );
}

async function ask<T>(
  context: ProcessContext,
  settings: Settings,
  question: (snapshot: Snapshot) => T,
): Promise<T | undefined> {
  const mirror = openMirror(context, settings);
  try {
    return await mirror?.query(question);
  } finally {
    await mirror?.close();
  }
}

function freshness({ clock }: ProcessContext, settings: Settings, { freshness, runs: [run] }: AccountSummary): Checkup {
  const check = 'freshness';
  const { listed_as_of } = freshness;
  const { maxStaleness } = settings.admin;
  const moment = listed_as_of === null ? undefined : parseInstant(listed_as_of);
  if (moment !== undefined && listed_as_of !== null && clock.now() - moment <= maxStaleness)
    return fine(check, `The lists were read ${age(clock, listed_as_of)}.`);
  const message =
    moment === undefined || listed_as_of === null
      ? 'No sweep was complete yet.'
      : `The lists were read ${age(clock, listed_as_of)}, and admin.maxStaleness is ${inWords(maxStaleness)}.`;
  if (run?.error) {
    const hint = Object.entries(catalogue).find(([code]) => code === run.error_code)?.[1].hint;
    return warning(check, `${message} The last run said: ${run.error}`, hint ?? 'Run `vendor-mirror status`.');
  }
  return warning(
    check,
    message,
    isDaemonAt(settings.database)
      ? 'Run `vendor-mirror sync`, or wait for the sweep of the daemon that runs.'
      : 'No daemon runs: start `vendor-mirror serve`, or run `vendor-mirror sync`.',
  );
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
