/** A mirror to which readings are handed one by one, with time moved by hand. */
import { join } from 'node:path';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { inject, it, onTestFinished } from 'vitest';
import { systemRandom, type Clock } from '../../../src/domain/clock.ts';
import type { AbsenceEvidence } from '../../../src/domain/presence.ts';
import type { ReadStamp, VendorRow } from '../../../src/domain/reading.ts';
import { openMirror, openPostgresMirror, type Store } from '../../../src/store/mirror.ts';
import type { Verdict } from '../../../src/store/acceptance.ts';
import { ask, migrations, namedProcess, placeMirror, temporaryFolder } from '../mirror-file.ts';
import { newDelivery } from '../deliveries/new-delivery.ts';

export const lag = 5_000;
export const account = 'one';

/** Both clocks of a machine: how long it has run, and what its wall shows. */
export interface Clocks {
  running: number;
  wall: number;
}

/** What is read of one account. */
export interface AccountOfStore {
  /** Applies a page with these rows. @returns the verdict on each. */
  page(stamp: ReadStamp, ...rows: readonly VendorRow[]): Promise<Verdict['kind'][]>;
  /** Applies pages that came together. */
  pages(stamp: ReadStamp, ...pages: readonly (readonly VendorRow[])[]): Promise<Verdict['kind'][][]>;
  record(stamp: ReadStamp, row: VendorRow, source?: 'delivery' | 'write'): Promise<Verdict['kind']>;
  /** The first proof that a vendor is absent: a request that ended with its begin. */
  suspect(stamp: ReadStamp, vendorid: number): Promise<void>;
  /** The second proof, where the first ended `lag` before it unless there was one. */
  absence(stamp: ReadStamp, vendorid: number, kind?: AbsenceEvidence['kind']): Promise<Verdict['kind']>;
  /** A delivery about vendor 1 arrives; by default it was received just now. */
  told(receivedAt?: number): Promise<void>;
}

/** The account `one`, and the file around it. */
export interface StoreTestbed extends AccountOfStore {
  readonly mirror: Store;
  readonly clocks: Clocks;
  /** Takes the number of a request. */
  ask(): Promise<ReadStamp>;
  /** Another account in the same mirror. */
  open(accountId: string): Promise<AccountOfStore>;
  query<Row = Record<string, unknown>>(sql: string, ...values: unknown[]): Row[];
  /** Writes past the program; into a file also past its checks. */
  damage(sql: string): void;
  /** From now on every such change of a vendor's row in a table fails, until the returned function is called. */
  refuse(change: 'INSERT' | 'UPDATE', table: string, vendorid?: number): () => void;
  /** Closes the file and opens it again. */
  reopen(): Promise<void>;
}

export interface StoreOptions {
  /** Lets other work have its turn; default: there is none. */
  readonly yield?: Clock['yield'];
}

/** A mirror of a test, wherever it is kept. */
interface Kept {
  readonly open: () => Promise<Store>;
  readonly query: StoreTestbed['query'];
  readonly damage: StoreTestbed['damage'];
  /** The body of a trigger that fails. */
  readonly refusing: (trigger: string, when: string) => string;
  readonly allowing: string;
}

/** Where the mirrors of this run are kept; undefined for files. */
const server = inject('postgres');

/** A test of what only files have: it is not there where mirrors are kept in PostgreSQL. */
export const itInFiles = server === undefined ? it : undefined;

/** How often a property is tried: each try takes far longer in PostgreSQL. */
export const triesOf = (inFiles: number): number => (server === undefined ? inFiles : Math.ceil(inFiles / 25));

const random = { bytes: (count: number) => new Uint8Array(count), fraction: () => 0 };

async function inFile(clock: Clock): Promise<Kept> {
  const path = join(temporaryFolder(), 'vendors.db');
  await placeMirror(path);
  return {
    open: () => openMirror({ path, migrations, clock, random, lockProcess: namedProcess() }),
    query: (sql, ...values) => ask(path, sql, ...values),
    damage(sql) {
      const writer = new Driver(path);
      writer.pragma('ignore_check_constraints = ON');
      writer.exec(sql);
      writer.close();
    },
    refusing: (trigger, when) => `CREATE ${trigger} ${when} BEGIN SELECT RAISE(ABORT, 'refused'); END`,
    allowing: 'DROP TRIGGER refused',
  };
}

async function inPostgres(address: string, clock: Clock): Promise<Kept> {
  const { askSchema, dropStore, newSchema, runInSchema } = await import('../postgres-schema.ts');
  const to = newSchema(address);
  onTestFinished(() => dropStore(to));
  return {
    open: () => openPostgresMirror({ store: to, migrations, clock, random: systemRandom }),
    query: (sql, ...values) => askSchema(to, sql, ...values),
    damage: (sql) => runInSchema(to, sql),
    refusing: (trigger, when) => `
      CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused' USING ERRCODE = 'check_violation'; END $$;
      CREATE ${trigger} FOR EACH ROW ${when} EXECUTE FUNCTION refuse()`,
    allowing: 'DROP FUNCTION refuse() CASCADE',
  };
}

export async function openStore(options: StoreOptions): Promise<StoreTestbed> {
  const clocks: Clocks = { running: 1_000, wall: Date.UTC(2026, 10, 20, 12) };
  const clock: Clock = {
    now: () => clocks.wall,
    monotonic: () => clocks.running,
    timer: () => () => undefined,
    yield: options.yield ?? (() => Promise.resolve()),
  };
  const { open, query, damage, refusing, allowing } = await (server === undefined
    ? inFile(clock)
    : inPostgres(server, clock));
  let mirror = await open();
  onTestFinished(() => mirror.close());
  const openAccount = async (accountId: string): Promise<AccountOfStore> => {
    const run = await mirror.runs.beginRun({ accountId, kind: 'pull', trigger: 'command' });
    const context = {
      accountId,
      runId: run.id,
      deliveryId: null,
      lag,
      run,
      changeClassifier: undefined,
      readsById: false,
    } as const;
    const counts = { pages: 1, requests: 1, seen: 1, created: 0, updated: 0, unchanged: 0, suspects: 0 };
    const pages: StoreTestbed['pages'] = async (stamp, ...lists) => {
      const taken = lists.map((rows, index) => ({
        ...{ stamp, rows, page: index + 1, pages: lists.length, perPage: 100, servedAt: undefined },
        total: lists.flat().length,
      }));
      const applied = await mirror.readings.applyPages(taken, { ...context, source: 'pull' }, (done) => ({
        ...counts,
        pages: done.length,
        seen: done.reduce((sum, { size }) => sum + size, 0),
      }));
      return applied.map((verdicts) => [...verdicts.values()].map(({ kind }) => kind));
    };
    const suspect = ({ begun, readSeq }: ReadStamp, vendorid: number, before: number): Promise<void> => {
      const evidence = { kind: 'unlisted', begun, ended: begun - before } as const;
      return mirror.vendors.markSuspects(accountId, [vendorid], { evidence, readSeq, lag });
    };
    return {
      page: async (stamp, ...rows) => (await pages(stamp, rows)).flat(),
      pages,
      record: async (stamp, row, source = 'delivery') =>
        (await mirror.readings.applyReading({ stamp, row }, { ...context, source })).kind,
      suspect: (stamp, vendorid) => suspect(stamp, vendorid, 0),
      async absence(stamp, vendorid, kind = 'not_found') {
        await suspect(stamp, vendorid, lag);
        const evidence = { kind, begun: stamp.begun, ended: stamp.begun };
        const allowance = { bound: Infinity, since: 0, approved: 0 };
        const absences = [{ vendorid, evidence, stamp }];
        const verdicts = await mirror.readings.applyAbsences(absences, allowance, { ...context, source: 'pull' });
        return verdicts![0]!.kind;
      },
      async told(receivedAt = clocks.wall) {
        await mirror.deliveries.acceptDeliveries([newDelivery(1, { accountId, receivedAt })]);
      },
    };
  };
  const first = await openAccount(account);
  return {
    ...first,
    get mirror() {
      return mirror;
    },
    clocks,
    ask: () => mirror.takeStamp(),
    open: openAccount,
    query,
    damage,
    refuse(change, table, vendorid) {
      const when = vendorid === undefined ? '' : `WHEN (new.vendorid = ${vendorid})`;
      damage(refusing(`TRIGGER refused BEFORE ${change} ON ${table}`, when));
      return () => damage(allowing);
    },
    async reopen() {
      await mirror.close();
      mirror = await open();
    },
  };
}

/** A record whose name is its content. */
export function row(vendorid: number, name: string, updated_at = '2026-11-20 12:00:00'): VendorRow {
  return {
    vendorid,
    raw: JSON.stringify({ vendorid, vendor_name: name, updated_at }),
    vendor: () => ({ vendorid, vendor_name: name, updated_at, vis_state: 0, unknown: new Map() }),
  };
}
