/** The start of a daemon with many accounts that the service has not answered yet: from its settings to the first answer of its listener. */
import { systemClock, systemRandom } from '../../../src/domain/clock.ts';
import type { Fetch } from '../../../src/api/http/request.ts';
import { openDaemon, type Daemon } from '../../../src/app/daemon.ts';
import { silentLog } from '../../../src/domain/log.ts';
import type { Settings } from '../../../src/settings/parse.ts';
import { lockProcess } from '../../../src/store/files/locks.ts';
import { compiled } from '../../support/source/compiled.ts';
import { migrations, settingsOf, type Place } from '../setup/installation.ts';
import type { JobResult } from '../setup/job.ts';

export interface StartParams extends Pick<Place, 'folder'> {
  readonly accounts: number;
}

export async function job({ folder, accounts }: StartParams): Promise<JobResult> {
  const begun = performance.now();
  const settings = settingsOf({
    folder,
    baseUrl: 'https://service.example',
    perPage: 100,
    accounts: Array.from({ length: accounts }, (_, index) => `a${index}`),
  });
  // Nothing is ever answered: what is measured is the program.
  const daemon = await daemonWith(
    settings,
    (_, init) =>
      new Promise((_resolve, reject) => {
        init.signal.addEventListener('abort', () => reject(init.signal.reason as Error), { once: true });
      }),
  );
  await daemon.start();
  const answer = await fetch(`${daemon.addresses.listener}/healthz`);
  await answer.text();
  const ms = performance.now() - begun;
  return { result: { ms }, stop: () => daemon.stop() };
}

/** A daemon as the program opens it, on ports that are free. */
export function daemonWith(settings: Settings, fetch: Fetch): Promise<Daemon> {
  return openDaemon(
    {
      ...settings,
      listener: { ...settings.listener, host: '127.0.0.1', port: 0 },
      admin: { ...settings.admin, port: 0 },
    },
    {
      clock: systemClock,
      random: systemRandom,
      fetch,
      log: silentLog,
      lockProcess,
      migrations,
      compiled,
      version: '0.0.0',
      machine: () => ({ rssBytes: 0, eventLoopLagSeconds: 0 }),
      onRun: () => undefined,
      onFatal: (error) => {
        throw error;
      },
    },
  );
}
