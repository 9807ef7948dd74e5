/**
 * Runs one job at a time for an account. A request joins a run that has not begun; one that comes during a run gets its own run afterwards,
 * because a sweep that has begun may have missed what the request is about.
 */
import type { RunReport } from './run.ts';

export type RunRequest = Parameters<RunJob>[0];

/** Carries out one run. */
export type RunJob = (request: {
  readonly kind: 'pull' | 'reconcile';
  readonly trigger: RunReport['trigger'];
  /** How many absences a person approved. */
  readonly approved?: number;
  readonly signal: AbortSignal;
}) => Promise<RunReport>;

type RequestedRun = Omit<RunRequest, 'signal'>;

export class RunService {
  readonly #job: RunJob;
  readonly #stopping = new AbortController();
  #waiting: { requested: RequestedRun; report: Promise<RunReport> } | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(job: RunJob) {
    this.#job = job;
  }

  /** Requests a run that begins after this call. A reconciliation includes a pull, so it replaces a waiting one. */
  request(requested: RequestedRun): Promise<RunReport> {
    const waiting = this.#waiting;
    if (waiting) {
      waiting.requested = mergeRequests(waiting.requested, requested);
      return waiting.report;
    }
    const report = this.#last.then(() => {
      const { requested: begun } = this.#waiting ?? { requested };
      this.#waiting = undefined;
      this.#stopping.signal.throwIfAborted();
      return this.#job({ ...begun, signal: this.#stopping.signal });
    });
    this.#waiting = { requested, report };
    this.#last = report.catch(() => undefined);
    return report;
  }

  /** Aborts the run under way, rejects waiting ones, and resolves when none runs. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('Stopping.'));
    await this.#last;
  }
}

function mergeRequests(waiting: RequestedRun, { kind, approved }: RequestedRun): RequestedRun {
  const allowed = Math.max(waiting.approved ?? 0, approved ?? 0);
  return {
    ...waiting,
    ...(kind === 'reconcile' && { kind }),
    ...(allowed > 0 && { approved: allowed }),
  };
}
