/** Epochs of the change feed: which connection wrote which part. */
import type { Sqlite } from '../sqlite/driver.ts';
import { plainStatement, type None } from '../sqlite/plain-statement.ts';

/** Older epochs are removed; cursors of those are invalid. */
const mostEpochs = 10_000;

/**
 * Returns a function to call before each version that this connection writes, inside its transaction. The first call begins an epoch of the
 * connection. The table is checked each time, because a failed transaction removes the epoch again.
 */
export function feedEpochs(sqlite: Sqlite): () => void {
  let epoch: string | undefined;
  const draw = plainStatement<None, { epoch: string }>(sqlite, 'SELECT lower(hex(randomblob(8))) AS epoch');
  const begin = plainStatement<{ epoch: string }>(
    sqlite,
    `INSERT INTO _feed_epochs (epoch, after_seq)
     SELECT :epoch, coalesce((SELECT seq FROM sqlite_sequence WHERE name = '_vendor_versions'), 0)
     WHERE NOT EXISTS (SELECT 1 FROM _feed_epochs WHERE epoch = :epoch)`,
  );
  const forget = plainStatement<{ kept: number }>(
    sqlite,
    'DELETE FROM _feed_epochs WHERE position <= (SELECT max(position) FROM _feed_epochs) - :kept',
  );
  return () => {
    epoch ??= draw.get({})?.epoch ?? '';
    if (begin.run({ epoch }) > 0) forget.run({ kept: mostEpochs });
  };
}
