/** A request for a sweep, and the answer to it. */

/** A request that no sweep has answered. Moments are mirror time, in milliseconds. */
export interface SweepRequest {
  readonly generation: number;
  /** The last delivery that was journalled when this was read. */
  readonly lastDelivery: number;
  /** When the first and the last one came that are not answered. */
  readonly askedMs: number;
  readonly lastMs: number;
  /** `askedMs` by our clock, in Unix ms. */
  readonly askedAt: number;
  /** Before this no sweep begins for it. */
  readonly restUntilMs: number;
}

/** What a complete sweep answers. */
export interface SweepAnswer {
  /** The generation that it saw when it began. */
  readonly generation: number;
  /** Requests up to this moment are answered, in mirror time and in ours (Unix ms). */
  readonly upToMs: number;
  readonly upTo: number;
  /** No sweep begins for a newer request before this moment of mirror time. */
  readonly restUntilMs: number;
}

/** Which deliveries a sweep answers: none that came after it began, and none so young that lists may not show yet what they tell of. */
export interface AnsweredDeliveries {
  /** The last of them. */
  readonly lastDelivery: number;
  /** Unix ms of the youngest; undefined where all are old enough. */
  readonly upTo: number | undefined;
}

/** What is journalled about a vendor that is not marked, up to that delivery. */
export interface UnmarkedVendor {
  readonly vendorid: number;
  readonly upTo: number;
}
