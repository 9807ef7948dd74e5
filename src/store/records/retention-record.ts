/** What is kept, and for how long. */

/** Moments in milliseconds since 1970; what is older goes. Undefined keeps everything. */
export interface RetentionLimits {
  readonly deliveriesSince: number | undefined;
  readonly versionsSince: number | undefined;
}
