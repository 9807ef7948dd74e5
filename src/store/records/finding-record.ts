/** A difference that a sweep found and no delivery announced. */
import type { FindingKind } from '../tables/mirror-tables.ts';

export interface Finding {
  readonly kind: FindingKind;
  readonly vendorid: number | null;
  /** Names of fields, or details of the finding; stored as JSON. */
  readonly fields: readonly string[] | Readonly<Record<string, unknown>>;
}

/** Fields that the records of a sweep showed. */
export interface ObservedFields {
  readonly names: readonly string[];
  /** Every record was parsed; those that equal the stored text are not. */
  readonly whole: boolean;
  /** Excluded fields, which neither appear nor disappear. */
  readonly excluded: readonly string[];
}
