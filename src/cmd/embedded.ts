/** The built-in sandbox, standing in for the service while a command runs. */
import type { Settings } from '../config.ts';
import { Secret } from '../log.ts';
import type { Edge } from './edge.ts';

export interface Service {
  /** The settings, with an address and a token in them. */
  readonly settings: Settings;
  /** By what name a mirror knows it; its address where left out. */
  readonly serviceName?: string;
  readonly stop: () => Promise<void>;
}

/** The service of these settings: the real one, or a sandbox that is started here and must be stopped. */
export async function serviceOf(settings: Settings, edge: Edge): Promise<Service> {
  if (settings.sandbox === null) return { settings, stop: () => Promise.resolve() };
  const { startEmbeddedSandbox } = await import('../sandbox/embedded.ts');
  const { vendors, seed, churn } = settings.sandbox;
  const embedded = await startEmbeddedSandbox({
    account: settings.accounts,
    vendors,
    seed: String(seed),
    churn,
    clock: edge.clock,
    fetch: edge.fetch,
  });
  const { baseUrl, token } = embedded;
  const service = { ...settings.service, baseUrl, auth: { accessToken: new Secret(token) } };
  return { settings: { ...settings, service }, serviceName: 'sandbox', stop: () => embedded.stop() };
}
