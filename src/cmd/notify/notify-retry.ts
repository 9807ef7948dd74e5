/** `notify retry`: what was given up is sent again, and targets whose receiver was gone work again. */
import { exitStatus, MirrorError } from '../../domain/errors.ts';
import { targetReports } from '../../store/outbox/outbox-report.ts';
import type { CommandHandler } from '../process/command.ts';
import { queryMirror, changeMirror } from '../setup/open-mirror.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { counted } from '../terminal/counted.ts';
import { printText, printJson } from '../terminal/print.ts';

export const notifyRetry: CommandHandler = async (call) => {
  const { context, options } = call;
  const settings = loadSettings(call);
  const [wanted] = call.args;
  const known = await queryMirror(context, settings, targetReports);
  const chosen = known?.filter(({ target }) => wanted === undefined || target === wanted) ?? [];
  if (known && wanted !== undefined && chosen.length === 0)
    throw new MirrorError('usage', `There is no target ${wanted}; \`vendor-mirror notify list\` shows them.`);
  const enabled = chosen.filter(({ disabled_at }) => disabled_at !== null).map(({ target }) => target);
  const vendors =
    chosen.length === 0
      ? 0
      : await changeMirror(context, settings, async ({ outbox }) => {
          let woken = 0;
          for (const { target } of chosen) woken += (await outbox.retry(target)) ?? 0;
          return woken;
        });
  if (options.json) printJson(context, { ok: true, vendors, enabled });
  else if (known) printText(context, sentence(vendors, enabled));
  return exitStatus.done;
};

function sentence(vendors: number, enabled: readonly string[]): string {
  if (vendors === 0 && enabled.length === 0) return 'Nothing was given up.';
  const again = enabled.map((target) => `${target} is enabled again.`);
  const sent =
    vendors > 0 ? [`The changes of ${counted(vendors, 'vendor')} are sent again by the running daemon.`] : [];
  return [...again, ...sent].join(' ');
}
