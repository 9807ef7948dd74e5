/** The mirror that owns a secrets file. Two mirrors with the same secrets would treat each other's callbacks as their own. */
import { MirrorError } from '../../domain/errors.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { isMirrorAt } from '../files/identity.ts';
import { secretSql, statement } from '../sqlite/statement.ts';
import type { SecretTables } from '../tables/secret-tables.ts';

/** A mirror: its identity and its path. */
export interface Owner {
  readonly mirrorId: string;
  readonly path: string;
}

/**
 * Returns a function that makes a mirror the owner, if there is none, or if the current one is no longer at its path (moved here, rebuilt
 * or removed). The function runs inside a transaction.
 * @throws MirrorError `secrets_taken` while another mirror is the owner.
 */
export function ownerClaim(sqlite: Sqlite, secretsPath: string): (claimant: Owner) => void {
  const find = statement<object, SecretTables['owner']>(sqlite, () => secretSql.selectFrom('owner').selectAll());
  const write = statement<SecretTables['owner']>(sqlite, (at) =>
    secretSql.replaceInto('owner').values({
      id: at('id'),
      mirror_id: at('mirror_id'),
      mirror_path: at('mirror_path'),
      daemon_epoch: at('daemon_epoch'),
    }),
  );
  return ({ mirrorId, path }) => {
    const owner = find.get({});
    if (owner?.mirror_id === mirrorId && owner.mirror_path === path) return;
    if (owner && owner.mirror_id !== mirrorId && isMirrorAt(owner.mirror_path, owner.mirror_id))
      throw new MirrorError('secrets_taken', `${secretsPath} belongs to another mirror, ${owner.mirror_path}.`);
    write.run({ id: 1, mirror_id: mirrorId, mirror_path: path, daemon_epoch: 0 });
  };
}
