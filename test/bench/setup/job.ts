/** A job: a part of a measurement that runs in a process of its own. */

/** The result of a job. One that answers questions runs until it is stopped. */
export interface JobResult {
  readonly result: unknown;
  readonly answer?: (question: never) => Promise<unknown>;
  readonly stop?: () => Promise<void>;
}

export type Job = (params: never) => Promise<JobResult>;
