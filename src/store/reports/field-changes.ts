/** Changed values by field: rows of the view `vendor_changes`. */
import { withoutBlobs } from '../sqlite/blobs.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';

/** How a change was learned, as text after "learned by". */
export const learnedBy = {
  pull: 'a pull',
  delivery: 'a webhook',
  reconcile: 'a reconciliation',
  write: 'a command of ours',
} as const;

export interface FieldChange {
  readonly seq: number;
  readonly field: string;
  readonly old: string | null;
  readonly new: string | null;
}

/** The changed values of one vendor from one version to another, both included. */
export function fieldChanges(
  sqlite: Sqlite,
  which: { readonly account_id: string; readonly vendorid: number; readonly from: number; readonly to: number },
): FieldChange[] {
  const changes = plainStatement<typeof which, FieldChange>(
    sqlite,
    `
    SELECT seq, field, "old", "new" FROM vendor_changes
    WHERE account_id = :account_id AND vendorid = :vendorid AND seq BETWEEN :from AND :to`,
  );
  return changes.all(which).map(withoutBlobs);
}
