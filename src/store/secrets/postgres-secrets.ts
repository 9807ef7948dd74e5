/**
 * Secrets that are kept in a schema of PostgreSQL, sealed: who reads the database, or a dump of it, has none of them.
 *
 * They belong to one mirror for good. One that was made anew in the place of another begins with secrets of its own.
 */
import { MirrorError } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import type { DaemonEpoch } from '../files/identity.ts';
import type { PostgresDatabase } from '../postgres/database.ts';
import { statement, type None, type Statement } from '../sql/statement.ts';
import type { LeaseRule, Owner, SecretsPlace } from './secrets-place.ts';

/** By how much the clock of a server may be behind another one that takes its place, in milliseconds. */
const clocksDiffer = 180_000;

export class PostgresSecrets implements SecretsPlace {
  readonly database: PostgresDatabase;
  readonly leases: LeaseRule;
  readonly #owner: Statement<None, { mirror_id: string; mirror_path: string; daemon_epoch: number }>;
  readonly #own: Statement<{ mirror_id: string; mirror_path: string }>;
  readonly #enter: Statement<{ daemon_epoch: number }>;

  constructor(database: PostgresDatabase) {
    this.database = database;
    const { connection: db } = database;
    const time = statement(db)<None, { now: number }>`
      SELECT CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS bigint) AS now`;
    this.leases = {
      async now() {
        const { now } = (await time.get({})) ?? {};
        if (now === undefined) throw new Error('The server told no time.');
        return now;
      },
      tolerance: clocksDiffer,
      // A process that only hung, or could not be heard for a while, may still send its refresh token.
      endsWithProcess: false,
      ...{ lasts: limits.processSilence, renewedEvery: limits.processRenewed },
    };
    this.#owner = statement(db)`SELECT mirror_id, mirror_path, daemon_epoch FROM owner`;
    this.#own = statement(db)`
      INSERT INTO owner (id, mirror_id, mirror_path, daemon_epoch) VALUES (1, ${'mirror_id'}, ${'mirror_path'}, 0)
      ON CONFLICT (id) DO UPDATE SET mirror_path = excluded.mirror_path`;
    this.#enter = statement(db)`UPDATE owner SET daemon_epoch = ${'daemon_epoch'}`;
  }

  trouble(): MirrorError | undefined {
    return this.database.trouble();
  }

  assertOurs(): void {
    // A server has one schema of a name.
  }

  claim({ mirrorId, path }: Owner): Promise<void> {
    return this.database.write(async () => {
      const owner = await this.#owner.get({});
      if (owner && owner.mirror_id !== mirrorId)
        throw new MirrorError(
          'secrets_taken',
          `${this.database.path} belongs to another mirror than ${path}, which was made anew or restored from another place.`,
          {
            remedy:
              'If the mirror was lost, drop the schema with the secrets, too: callbacks are registered again, and `vendor-mirror login` gets new tokens.',
          },
        );
      if (owner?.mirror_path !== path) this.#own.send({ mirror_id: mirrorId, mirror_path: path });
    });
  }

  beginDaemon({ daemon_epoch }: DaemonEpoch, _left: unknown, work: () => Promise<void>): Promise<boolean> {
    return this.database.write(async () => {
      await work();
      const last = (await this.#owner.get({}))?.daemon_epoch ?? 0;
      this.#enter.send({ daemon_epoch });
      return Math.abs(last) >= daemon_epoch;
    });
  }

  endDaemon(): Promise<void> {
    return Promise.resolve();
  }

  copyJournal(): Promise<void> {
    return Promise.resolve();
  }
}
