/** The mirror that a file of secrets belongs to. Two that shared one would take each other's callbacks for their own. */
import { MirrorError } from '../../domain/errors.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { isMirrorAt } from '../files/identity.ts';
import { secretSql, statement } from '../sqlite/statement.ts';
import type { SecretTables } from '../tables/secret-tables.ts';

/** A mirror, by the identity inside it, and where it is. */
export interface Owner {
  readonly mirrorId: string;
  readonly path: string;
}

/**
 * Makes the mirror the owner, if the secrets have none, or if the one they have is no longer where it was: it was moved here, rebuilt, or removed.
 * @returns what claims the secrets, inside a transaction. @throws MirrorError `secrets_taken` while the owner is another mirror.
 */
export function ownerClaim(sqlite: Sqlite, secretsPath: string): (claimant: Owner) => void {
  const look = statement<object, SecretTables['owner']>(sqlite, () => secretSql.selectFrom('owner').selectAll());
  const write = statement<SecretTables['owner']>(sqlite, (at) =>
    secretSql.replaceInto('owner').values({
      id: at('id'),
      mirror_id: at('mirror_id'),
      mirror_path: at('mirror_path'),
      daemon_epoch: at('daemon_epoch'),
    }),
  );
  return ({ mirrorId, path }) => {
    const owner = look.get({});
    if (owner?.mirror_id === mirrorId && owner.mirror_path === path) return;
    if (owner && owner.mirror_id !== mirrorId && isMirrorAt(owner.mirror_path, owner.mirror_id))
      throw new MirrorError('secrets_taken', `${secretsPath} belongs to another mirror, ${owner.mirror_path}.`);
    write.run({ id: 1, mirror_id: mirrorId, mirror_path: path, daemon_epoch: 0 });
  };
}
