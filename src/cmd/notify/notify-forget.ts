/** `notify forget`: a target that the settings do not name any more, and what waits for it. */
import { exitStatus, MirrorError } from '../../domain/errors.ts';
import type { CommandHandler } from '../process/command.ts';
import { queryMirror, changeMirror } from '../setup/open-mirror.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { printText, printJson } from '../terminal/print.ts';

export const notifyForget: CommandHandler = async (call) => {
  const { context, options } = call;
  const settings = loadSettings(call);
  const [target = ''] = call.args;
  if (settings.notify.some(({ name }) => name === target))
    throw new MirrorError(
      'usage',
      `The settings name ${target}: remove it from \`notify\` first, and restart the daemon.`,
    );
  const isThere = await queryMirror(context, settings, () => true);
  const known = isThere ? await changeMirror(context, settings, ({ outbox }) => outbox.forget(target)) : false;
  if (isThere && !known)
    throw new MirrorError('usage', `There is no target ${target}; \`vendor-mirror notify list\` shows them.`);
  if (options.json) printJson(context, { ok: true, forgotten: known });
  else if (known) printText(context, `${target} is forgotten.`);
  return exitStatus.done;
};
