/** A job: a part of a measurement that runs in a process of its own. */

/** What a job has to tell. One that answers questions stands until it is stopped. */
export interface JobResult {
  readonly told: unknown;
  readonly answer?: (question: never) => Promise<unknown>;
  readonly stop?: () => Promise<void>;
}

export type Job = (params: never) => Promise<JobResult>;
