/** What is kept, and for how long. */

/** Moments in milliseconds since 1970; older rows are removed. Undefined keeps everything. */
export interface RetentionLimits {
  readonly deliveriesSince: number | undefined;
  readonly versionsSince: number | undefined;
}
