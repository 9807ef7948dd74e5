/** Services with start and stop: several are started in order and stopped in reverse. */

export interface Service {
  readonly name: string;
  start(): Promise<void>;
  /** May be called before start, and more than once. */
  stop(): Promise<void>;
}

/** Starts the services in order. If one fails, those already started are stopped again, and its error is thrown. */
export async function startAll(services: readonly Service[]): Promise<void> {
  const started: Service[] = [];
  for (const service of services) {
    try {
      started.push(service);
      await service.start();
    } catch (error) {
      await stopAll(started);
      throw error;
    }
  }
}

/** Stops all services in reverse order. @throws the first error, after the last service has stopped. */
export async function stopAll(services: readonly Service[]): Promise<void> {
  let failure: { error: unknown } | undefined;
  for (const service of [...services].reverse()) {
    try {
      await service.stop();
    } catch (error) {
      failure ??= { error };
    }
  }
  if (failure) throw failure.error;
}
