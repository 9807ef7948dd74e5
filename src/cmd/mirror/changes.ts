/** `changes`: the change feed, one JSON object a line. */
import { sleep } from '../../domain/clock.ts';
import { exitStatus } from '../../domain/errors.ts';
import { readChanges } from '../../store/reports/change-feed.ts';
import type { Run } from '../process/command.ts';
import { queryMirror } from '../setup/open-mirror.ts';
import { printJson } from '../terminal/print.ts';
import { loadSettings } from '../setup/load-settings.ts';

interface ChangesOptions {
  readonly since: number;
  readonly limit?: number;
  readonly follow?: boolean;
}

/** How long to wait before looking again, in milliseconds. */
const pause = 1_000;
/** How many changes are held in memory at once. */
const batch = 1_000;

export const changes: Run<ChangesOptions> = async (call) => {
  const { context, options } = call;
  const settings = loadSettings(call);
  let { since, limit: left = Infinity } = options;
  while (left > 0 && !context.interrupted.aborted) {
    const limit = Math.min(left, batch);
    // Opened for each look, so that following keeps no other process from closing the mirror in good order.
    const found = await queryMirror(context, settings, (sqlite) =>
      readChanges(sqlite, { account: options.account, since, limit }),
    );
    if (!found) break;
    for (const change of found) printJson(context, change);
    since = found.at(-1)?.seq ?? since;
    left -= found.length;
    if (found.length === batch) continue;
    if (!options.follow) break;
    // An interruption ends the pause, and the loop sees it.
    await sleep(context.clock, pause, context.interrupted).catch(() => undefined);
  }
  return exitStatus.done;
};
