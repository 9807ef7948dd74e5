/** `logout`: the tokens that `login` got are forgotten. */
import { exitStatus } from '../../domain/errors.ts';
import type { Run } from '../process/command.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { withInstallation } from '../setup/with-installation.ts';
import { print, printJson } from '../terminal/print.ts';
import { oauthOf } from './login.ts';

export const logout: Run = async (call) => {
  const settings = loadSettings(call);
  const oauth = oauthOf(settings);
  const forgotten = await withInstallation(call, settings, (installation) =>
    installation.access.forgetGrant({ oauth }),
  );
  if (call.options.json) printJson(call.context, { ok: true, forgotten });
  else
    print(
      call.context,
      forgotten
        ? 'Logged out: the tokens are forgotten here. The service may list them until they end; withdraw them there.'
        : 'Nobody was logged in.',
    );
  return exitStatus.done;
};
