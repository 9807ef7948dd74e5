/** A service apart from the command, that a test can turn against it, and a command line that points there. */
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { startEmbeddedSandbox, type EmbeddedOptions, type EmbeddedSandbox } from '../../../src/sandbox/embedded.ts';
import { defaultWorld, type World } from '../../../src/sandbox/core/worlds.ts';
import { commandLine, type CommandLine, type CommandLineOptions } from './command-line.ts';

export async function service(
  options: Partial<EmbeddedOptions> = {},
  world: Partial<World> = {},
): Promise<EmbeddedSandbox> {
  const sandbox = await startEmbeddedSandbox({
    account: ['6BApk', 'other'],
    vendors: 30,
    seed: 'sync',
    clock: systemClock,
    fetch: globalThis.fetch,
    world: { ...defaultWorld, ...world },
    ...options,
  });
  onTestFinished(() => sandbox.stop());
  return sandbox;
}

export function pointedAt(
  { baseUrl, token }: { baseUrl: string; token: string },
  options: CommandLineOptions = {},
): CommandLine {
  const paging = 'paging: { perPage: 5, concurrency: 1 }';
  const settings = [
    `service: { baseUrl: "${baseUrl}", auth: { accessToken: ${token} }, ${paging} }`,
    'sync: { lag: 0s, breaker: { vendors: 5, percent: 1 } }',
    options.settings ?? '',
  ];
  return commandLine({ clock: systemClock, ...options, settings: settings.join('\n') });
}
