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

/** Runs `work` on every item, at most `limit` at a time, in order of arrival; the first failure stops further starts. */
export async function eachBounded<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  let failed = false;
  const lane = async (): Promise<void> => {
    for (let next = queue.next(); !failed && next.done !== true; next = queue.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: limit }, lane));
  const broken = lanes.find((outcome) => outcome.status === 'rejected');
  if (broken) throw broken.reason;
}

/** The work's result. @throws the signal's reason as soon as it is aborted; the work goes on, and its result is ignored. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  work.catch(() => undefined);
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    signal.throwIfAborted();
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
