/** A request for a sweep, and its answer. */

/** An open request. Moments are mirror time, in milliseconds. */
export interface SweepRequest {
  readonly generation: number;
  /** The id of the last journalled delivery when this was read. */
  readonly lastDelivery: number;
  /** When the first and the last unanswered request came. */
  readonly askedMs: number;
  readonly lastMs: number;
  /** `askedMs` by our clock, in Unix ms. */
  readonly askedAt: number;
  /** Before this no sweep begins for it. */
  readonly restUntilMs: number;
}

/** What a complete sweep has answered. */
export interface SweepAnswer {
  /** The generation when the sweep began. */
  readonly generation: number;
  /** Requests up to this moment are answered: in mirror time, and as Unix ms. */
  readonly upToMs: number;
  readonly upTo: number;
  /** No sweep begins for a newer request before this mirror time. */
  readonly restUntilMs: number;
}

/** Which deliveries a sweep answers: none that came after it began, or so recently that lists may not show the change yet. */
export interface AnsweredDeliveries {
  /** The id of the last of them. */
  readonly lastDelivery: number;
  /** When the youngest of them came, Unix ms; undefined where all are old enough. */
  readonly upTo: number | undefined;
}

/** The deliveries of a vendor that is not marked, up to the delivery `upTo`. */
export interface UnmarkedVendor {
  readonly vendorid: number;
  readonly upTo: number;
}
