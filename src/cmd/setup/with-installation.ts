/** The installation, opened for a command that speaks with the service. */
import { join } from 'node:path';
import type { Settings } from '../../settings/parse.ts';
import { openInstallation, type Installation, type InstallationDependencies } from '../../app/installation.ts';
import { refuseOtherFiles } from '../../store/files/daemon-files.ts';
import { lockProcess } from '../../store/files/process-lock.ts';
import type { Call } from '../process/command.ts';
import { migrationProgress } from '../terminal/migration-progress.ts';
import { serviceOf } from '../sandbox/embedded-service.ts';
import { logOf } from './command-log.ts';

/**
 * Does the work with the installation of these settings, and closes it, with the built-in sandbox where one stood in for the
 * service.
 * @throws MirrorError of files and settings, and whatever the work throws.
 */
export async function withInstallation<T>(
  call: Call,
  settings: Settings,
  work: (installation: Installation) => Promise<T>,
  dependencies: Pick<InstallationDependencies, 'retryLimits' | 'anyService'> = {},
): Promise<T> {
  const { clock, random, fetch, packageRoot } = call.context;
  const service = await serviceOf(settings, call.context, { stays: false });
  try {
    refuseOtherFiles(service.settings);
    const installation = await openInstallation(service.settings, {
      ...dependencies,
      serviceName: service.serviceName,
      clock,
      random,
      fetch,
      log: await logOf(call, 'warn'),
      lockProcess,
      onMigration: migrationProgress(call.context),
      migrations: join(packageRoot, 'migrations'),
    });
    try {
      return await work(installation);
    } finally {
      await installation.close();
    }
  } finally {
    await service.stop();
  }
}
