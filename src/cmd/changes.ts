/** `changes`: the change feed, one JSON object a line. */
import { sleep } from '../domain/clock.ts';
import { exitStatus, MirrorError } from '../domain/errors.ts';
import { changePage } from '../store/reports/change-feed.ts';
import { whyGone } from '../store/reports/feed-cursor.ts';
import { loadSettings } from './load-settings.ts';
import { noticeNothingMirrored, openMirror } from './open-mirror.ts';
import type { CommandHandler } from './process/command.ts';
import { printJson } from './terminal/print.ts';

interface ChangesOptions {
  readonly since?: string;
  readonly limit?: number;
  readonly follow?: boolean;
}

/** How long to wait before looking again, in milliseconds. */
const pause = 1_000;
const batch = 1_000;

export const changes: CommandHandler<ChangesOptions> = async (call) => {
  const { context, options } = call;
  const settings = await loadSettings(call);
  const { account, limit: wanted = Infinity } = options;
  let { since } = options;
  let isAwaited = false;
  // An interruption ends the pause, and the loop sees it.
  const nextLook = (): Promise<void> => sleep(context.clock, pause, context.interrupted).catch(() => undefined);
  for (let left = wanted; left > 0 && !context.interrupted.aborted;) {
    // Opened for each look, so that --follow does not keep another process from closing the mirror cleanly.
    const mirror = await openMirror(context, settings);
    if (!mirror) {
      if (!isAwaited) noticeNothingMirrored(context);
      if (!options.follow) break;
      // Where one is begun, or put back, its first look says whether the cursor is of it.
      isAwaited = true;
      await nextLook();
      continue;
    }
    isAwaited = false;
    const filter = { account, since, limit: Math.min(left, batch) };
    const page = await changePage(mirror.query, context.clock, filter).finally(() => mirror.close());
    if ('reason' in page)
      throw new MirrorError(
        'history_gone',
        `${whyGone(page)} The changes that are kept start after ${page.oldest} and end with ${page.latest}.`,
      );
    for (const change of page.changes) printJson(context, change);
    since = page.cursor;
    left -= page.changes.length;
    if (page.more) continue;
    if (!options.follow) break;
    await nextLook();
  }
  return exitStatus.done;
};
