/** `logout`: the tokens that `login` got are forgotten. */
import { exitStatus } from '../../domain/errors.ts';
import type { CommandHandler } from '../process/command.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { withInstallation } from '../setup/with-installation.ts';
import { printText, printJson } from '../terminal/print.ts';
import { oauthConnection } from './oauth-connection.ts';

export const logout: CommandHandler = async (call) => {
  const settings = loadSettings(call);
  const { name } = oauthConnection(settings, call.args[0]);
  const forgotten = await withInstallation(call, settings, ({ connections }) => connections.forgetGrant(name));
  if (call.options.json) printJson(call.context, { ok: true, connection: name, forgotten });
  else
    printText(
      call.context,
      forgotten
        ? 'Logged out: the stored tokens are deleted. They stay valid in the service until they expire; revoke them there.'
        : 'There was no login.',
    );
  return exitStatus.done;
};
