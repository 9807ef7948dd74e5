/** Where the mirror of an installation is kept: in files; on a server in the project whose mirrors are in PostgreSQL. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { limits } from '../../../src/domain/limits.ts';
import type { Settings } from '../../../src/settings/parse.ts';
import { ask, otherConnection, placeMirror } from '../mirror-file.ts';
import { atMoment, tapInto } from '../postgres-tap.ts';
import { askSchema, dropStore, newSchema, runInSchema } from '../postgres-schema.ts';
import { virtualClock, type VirtualClock } from '../virtual-clock.ts';

const server = inject('postgres');

/** That a process lives, it tells a server every few seconds: of a day, that would be most. */
const besideServer = { endless: limits.processRenewed };

/** A clock that jumps ahead when nothing else is going on. */
export const jumpingClock = (): VirtualClock =>
  virtualClock({ auto: true, ...(server === undefined ? {} : besideServer) });

export interface Placed {
  /** With the place of the mirror. */
  readonly settings: Settings;
  readonly query: <Row = Record<string, unknown>>(sql: string, ...values: unknown[]) => Row[];
  /** Writes as another program does. */
  readonly write: (sql: string) => void;
}

/** A place for the mirror of these settings, whose files are in a folder of the test. */
export async function placed(settings: Settings, clock: VirtualClock): Promise<Placed> {
  if (server !== undefined) return onServer(server, settings, clock);
  await placeMirror(settings.database);
  const { database } = settings;
  return {
    settings,
    query: (sql, ...values) => ask(database, sql, ...values),
    write: (sql) => otherConnection(database).exec(sql),
  };
}

/** The server tells the time of the clock, which stands still while the server is asked. */
function onServer(address: string, settings: Settings, clock: VirtualClock): Placed {
  const secretsKeyFile = join(dirname(settings.database), 'key');
  writeFileSync(secretsKeyFile, randomBytes(32).toString('hex'), { mode: 0o600 });
  const store = newSchema(address);
  const started = clock.now();
  const untap = tapInto(store.schema, {
    database: store.to.database,
    opened: () => ({
      connect: (connect) => clock.busy(connect()),
      query: (asked, send) => clock.busy(send({ ...asked, text: atMoment(asked.text, { now: clock.now(), started }) })),
    }),
  });
  onTestFinished(() => {
    untap();
    dropStore(store);
  });
  return {
    settings: {
      ...settings,
      database: `${store.to.name}, schema ${store.schema}`,
      secrets: `${store.to.name}, schema ${store.secretsSchema}`,
      postgres: { ...store, secretsKeyFile, to: { ...store.to, database: store.schema } },
    },
    query: (sql, ...values) => askSchema(store, sql, ...values),
    write: (sql) => runInSchema(store, sql),
  };
}
