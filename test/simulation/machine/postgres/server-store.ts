/**
 * A world whose mirror is in two schemas of a PostgreSQL, which its first process makes, and which go with the world. The server tells the
 * world's time, and when it was started there.
 */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom, seedOf } from '../../../../src/sandbox/core/random.ts';
import type { PostgresStore, Settings } from '../../../../src/settings/parse.ts';
import { KeySealing, type Sealing } from '../../../../src/store/secrets/sealing.ts';
import { askNow } from '../../../support/postgres-questions.ts';
import { storeAt } from '../../../support/postgres-schema.ts';
import { epoch, type Timeline } from '../timeline.ts';
import type { Reader, Server, StoreUser, Use, WorldStore } from '../world-store.ts';
import { atMoment, tapInto } from '../../../support/postgres-tap.ts';
import { ServerReader } from './server-reader.ts';
import { Sessions } from './sessions.ts';

export interface ServerStoreOptions {
  /** The address of a database, with the right to make schemas. */
  readonly address: string;
  readonly seed: number;
  /** For the file with the key. */
  readonly folder: string;
  readonly settings: Settings;
  readonly timeline: Timeline;
}

let worlds = 0;

export class ServerStore implements WorldStore, Server {
  lockedUntil = 0;
  fullUntil = 0;
  /** Until when nobody can connect. */
  awayUntil = 0;
  readonly server = this;
  readonly sealing: Sealing;
  readonly #options: ServerStoreOptions;
  readonly #store: PostgresStore;
  readonly #readers: Readonly<Record<'mirror' | 'secrets', Reader>>;
  readonly #sessions: Sessions;
  readonly #untap: (() => void)[] = [];
  #startedAt = 0;

  constructor(options: ServerStoreOptions) {
    const { address, folder, seed } = options;
    const secretsKeyFile = join(folder, 'secrets.key');
    writeFileSync(secretsKeyFile, randomBytes(32).toString('hex'), { mode: 0o600 });
    this.sealing = new KeySealing(secretsKeyFile, { bytes: randomBytes });
    this.#options = options;
    this.#store = { ...storeAt(address, `world_${process.pid}_${++worlds}`), secretsKeyFile };
    this.#sessions = new Sessions(seededRandom(seedOf(seed, 'sessions')));
    const reader = (schema: string): Reader =>
      new ServerReader(address, schema, () => this.#sessions.schema(schema).version);
    this.#readers = { mirror: reader(this.#store.schema), secrets: reader(this.#store.secretsSchema) };
  }

  use(user: StoreUser): Use {
    const { settings, timeline } = this.#options;
    const { to, schema, secretsSchema } = this.#store;
    const name = `${schema}@${this.#untap.length}`;
    const translate = (text: string): string =>
      atMoment(text, { now: epoch + timeline.now, started: epoch + this.#startedAt });
    this.#untap.push(
      tapInto(name, {
        database: to.database,
        opened: (client) => this.#sessions.opened({ client, user, troubles: this, translate, timeline }),
      }),
    );
    this.#sessions.starting += 1;
    let isStarting = true;
    const started = (): void => {
      if (isStarting) this.#sessions.starting -= 1;
      isStarting = false;
    };
    return {
      settings: {
        ...settings,
        database: `${to.name}, schema ${schema}`,
        secrets: `${to.name}, schema ${secretsSchema}`,
        postgres: { ...this.#store, to: { ...to, database: name } },
      },
      started,
      end: () => {
        started();
        this.#sessions.cut(user);
      },
    };
  }

  reader(of: 'mirror' | 'secrets'): Reader {
    return this.#readers[of];
  }

  holding(texts: readonly string[]): string[] {
    const { mirror } = this.#readers;
    const tables = mirror.rows<{ name: string }>(
      'SELECT tablename AS name FROM pg_catalog.pg_tables WHERE schemaname = ? ORDER BY 1',
      this.#store.schema,
    );
    const isHeld = texts.map(() => 'strpos(CAST(t AS text), ?) > 0').join(' OR ');
    return tables.flatMap(({ name }) =>
      mirror.rows(`SELECT 1 FROM "${name}" t WHERE ${isHeld} LIMIT 1`, ...texts).length > 0 ? [name] : [],
    );
  }

  restart(ms: number): void {
    const { now } = this.#options.timeline;
    this.awayUntil = this.#startedAt = now + ms;
    this.#sessions.cut();
  }

  cutAll(): void {
    this.#sessions.cut();
  }

  settled(): Promise<void> {
    return this.#sessions.settled();
  }

  close(): void {
    this.#sessions.cut();
    for (const untap of this.#untap) untap();
    const { schema, secretsSchema } = this.#store;
    const { address } = this.#options;
    askNow(
      address,
      schema,
      `DROP SCHEMA IF EXISTS "${schema}" CASCADE; DROP SCHEMA IF EXISTS "${secretsSchema}" CASCADE`,
    );
  }
}
