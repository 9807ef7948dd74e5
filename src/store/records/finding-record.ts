/** A difference that a sweep met and nobody had announced. */
import type { FindingKind } from '../tables/mirror-tables.ts';

export interface Finding {
  readonly kind: FindingKind;
  readonly vendorid: number | null;
  /** Names of fields, or facts of the finding; stored as JSON. */
  readonly fields: readonly string[] | Readonly<Record<string, unknown>>;
}

/** Fields that the records of a sweep showed. */
export interface ObservedFields {
  readonly names: readonly string[];
  /** Every record was looked into; those equal to the byte to what we hold are not. */
  readonly whole: boolean;
  /** Fields that are cut out of every record, and so neither appear nor disappear. */
  readonly excluded: readonly string[];
}
