/** The sandbox on a port of its own: a service apart from the program, behind real HTTP, that a test can turn against it. */
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import type { World } from '../../../src/sandbox/core/worlds.ts';
import { oddWorld } from '../odd-world.ts';
import { startEmbeddedSandbox, type EmbeddedOptions, type EmbeddedSandbox } from '../../../src/sandbox/embedded.ts';

export interface SandboxTestbedOptions extends Partial<Omit<EmbeddedOptions, 'world'>> {
  /** What of the world is otherwise than usual. */
  readonly world?: Partial<World>;
}

/** Where a program finds a service: at one that runs already, or at a sandbox that is opened for it. */
export type ServiceChoice = { readonly baseUrl: string; readonly token: string } | SandboxTestbedOptions;

export async function chosenService(
  choice: ServiceChoice,
): Promise<{ readonly baseUrl: string; readonly token: string }> {
  return 'baseUrl' in choice ? choice : openSandbox(choice);
}

/** By default two accounts of thirty vendors each, without a rate limit. */
export async function openSandbox({ world, ...options }: SandboxTestbedOptions): Promise<EmbeddedSandbox> {
  const sandbox = await startEmbeddedSandbox({
    account: ['6BApk', 'other'],
    vendors: 30,
    seed: 'sync',
    token: 'sandbox-token',
    rateLimits: null,
    clock: systemClock,
    fetch: globalThis.fetch,
    world: { ...oddWorld(), ...world },
    ...options,
  });
  onTestFinished(() => sandbox.stop());
  return sandbox;
}
