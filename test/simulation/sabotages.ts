/** Faults that are planted into the program to see whether the simulation finds them: text in place of other text. */

export interface Change {
  /** From the root of the repository. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly search: string;
  readonly replace: string;
}

export interface Sabotage {
  readonly name: string;
  readonly changes: readonly Change[];
  /** A seed that is known to find it. */
  readonly seed: number;
}

export const sabotages: readonly Sabotage[] = [];
