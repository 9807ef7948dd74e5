/** A difference that a sweep met and nobody had announced. */
import type { FindingKind } from '../tables/mirror-tables.ts';

export interface Finding {
  readonly kind: FindingKind;
  readonly vendorid: number | null;
  /** Names of fields, or facts of the finding; stored as JSON. */
  readonly fields: readonly string[] | Readonly<Record<string, unknown>>;
}
