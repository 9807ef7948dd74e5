/** What is known to go wrong in a mirror like this one: an id each. The test that proves the defence bears the id in its title. */

/** Families of hazards, and how many each has, numbered from 1. */
const families = {
  /** Pull and paging. */
  A: 32,
  /** Ordering and time. */
  B: 10,
  /** Deliveries and the queue. */
  C: 20,
  /** The handshake of callbacks. */
  D: 14,
  /** Signatures. */
  E: 9,
  /** SQLite and files. */
  F: 20,
  /** The process. */
  J: 10,
  /** What strangers can reach. */
  H: 15,
  /** What trying the built program from outside has shown. */
  K: 53,
} as const;

export const hazards: readonly string[] = Object.entries(families).flatMap(([family, count]) =>
  Array.from({ length: count }, (_, index) => `${family}${index + 1}`),
);

/** Hazards without a test of their own, each with its reason. */
export const excused: Readonly<Record<string, string>> = {};
