/** `deliveries retry`: what was given up is marked to be read again. */
import { exitStatus } from '../../domain/errors.ts';
import type { CommandHandler } from '../process/command.ts';
import { queryMirror, changeMirror } from '../setup/open-mirror.ts';
import { withSettings } from '../process/settings-option.ts';
import { printText, printJson } from '../terminal/print.ts';
import { loadSettings } from '../setup/load-settings.ts';

interface RetryOptions {
  readonly vendor?: number;
}

export const deliveriesRetry: CommandHandler<RetryOptions> = async (call) => {
  const { context, options } = call;
  const settings = loadSettings(call);
  const isThere = await queryMirror(context, settings, () => true);
  const marked = isThere
    ? await changeMirror(context, settings, async (mirror) => {
        let count = 0;
        for (const account of settings.accounts)
          count += await mirror.deliveries.retryParked({ account, vendorid: options.vendor });
        return count;
      })
    : 0;
  if (options.json) printJson(context, { ok: true, marked });
  else if (isThere) printText(context, withSettings(context, sentence(marked)));
  return exitStatus.done;
};

function sentence(marked: number): string {
  if (marked === 0) return 'Nothing is parked.';
  const vendors = marked === 1 ? 'One vendor is' : `${marked} vendors are`;
  return `${vendors} marked to be read again: by the running daemon, or by the next \`vendor-mirror reconcile\`.`;
}
