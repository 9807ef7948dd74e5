/**
 * What is done to the secrets of one account neither changes nor depends on those of another, though both have callbacks, codes, events and
 * tokens of equal ids. Each operation runs in a file that holds one account, and in the same file beside another account.
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { timestamp } from '../../../../src/domain/clock.ts';
import { Secret } from '../../../../src/domain/secret.ts';
import { NotifiedPositions, openSecrets, Secrets } from '../../../../src/store/secrets/secrets.ts';
import { TokenStore } from '../../../../src/store/secrets/token-store.ts';
import { Verifiers } from '../../../../src/store/secrets/verifiers.ts';
import { Driver } from '../../../../src/store/sqlite/driver-package.ts';
import { ask, migrations, temporaryFolder } from '../../../support/mirror-file.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const own = 'one';
const other = 'other';

/** By which column a table tells accounts, connections or targets apart; null where it is about the whole file. */
const keyOf: Readonly<Record<string, string | null>> = {
  path_tokens: 'account_id',
  verifiers: 'account_id',
  awaited_codes: 'account_id',
  registrations: 'account_id',
  oauth_tokens: 'client',
  notified: 'target',
  owner: null,
  key_orders: null,
  migrations: null,
};

const hour = 3_600_000;
const now = virtualClock().now();
const [before, later] = [`'${timestamp(now - hour)}'`, `'${timestamp(now + hour)}'`];

/** The same rows for each account. */
const rows: Readonly<Record<string, readonly string[]>> = {
  path_tokens: [`'same', 'before'`],
  verifiers: [
    `'proven', 7, 'proven', ${before}, NULL, 0`,
    `'candidate', 7, 'candidate', ${before}, NULL, 0`,
    `'nameless', NULL, 'candidate', ${before}, NULL, 0`,
    `'previous', 8, 'previous', ${before}, ${later}, 0`,
    `'again', 9, 'proven', ${before}, NULL, 1`,
  ],
  awaited_codes: [`'bill_vendor', 7, ${before}`, `'bill', 8, ${before}`],
  registrations: Array.from({ length: 3 }, () => `'bill_vendor', ${before}, 'https://mirror.example/webhooks/x'`),
  oauth_tokens: [`'access', 'refresh', ${later}, 'process x', 100000`],
  notified: [`'0123456789abcdef:7'`],
};

/** What the account itself has. */
const holdings: Readonly<Record<string, readonly string[]>> = {
  nothing: [],
  'keys and codes': ['verifiers'],
  'codes that are awaited': ['path_tokens', 'awaited_codes', 'registrations'],
  everything: Object.keys(rows),
};

type Operation = (secrets: Secrets) => Promise<unknown>;

const code = (text: string): Secret => new Secret(text);
const ofVerifiers =
  (work: (verifiers: Verifiers) => Promise<unknown>): Operation =>
  ({ verifiers }) =>
    work(verifiers);
const ofTokens =
  (work: (tokens: TokenStore) => Promise<unknown>): Operation =>
  (secrets) =>
    work(
      secrets.tokenStore(own, {
        process: { name: 'this', isAlive: (name) => name === 'process' },
        onWait: () => undefined,
      }),
    );
const pair = { access: code('new'), refresh: code('next'), expiresAt: now };

/** Every operation on the secrets of one account, with ids that the other account has too. */
const operations: Readonly<Record<string, Readonly<Record<string, readonly Operation[]>>>> = {
  Verifiers: {
    pathToken: [ofVerifiers((at) => at.pathToken(own))],
    pathTokens: [ofVerifiers(async (at) => [...(await at.pathTokens([own]))])],
    addressTokens: [ofVerifiers((at) => at.addressTokens(own))],
    previousTokens: [ofVerifiers(async (at) => (await at.previousTokens()).get(own)?.reveal())],
    rotate: [ofVerifiers((at) => at.rotate(own))],
    endRotation: [ofVerifiers((at) => at.endRotation(own, code('same')))],
    usable: [ofVerifiers((at) => at.usable(own))],
    hasKey: [7, 9].map((id) => ofVerifiers((at) => at.hasKey(own, id))),
    expect: [null, 7, 9].map((id) => ofVerifiers((at) => at.expect(own, 'bill_vendor', id))),
    expectNone: [ofVerifiers((at) => at.expectNone(own, 'bill_vendor'))],
    offer: ['proven', 'candidate', 'previous', 'unknown'].flatMap((text) =>
      [7, 8, 9, null].map((id) => ofVerifiers((at) => at.offer(own, code(text), id))),
    ),
    candidates: [7, 8].map((id) => ofVerifiers((at) => at.candidates(own, id))),
    drop: ['candidate', 'again'].map((text) => ofVerifiers((at) => at.drop(own, code(text)))),
    prove: ['candidate', 'proven', 'unknown'].map((text) =>
      ofVerifiers((at) => at.prove(own, 'bill_vendor', 7, code(text))),
    ),
    proveCandidate: ['candidate', 'unknown'].map((text) =>
      ofVerifiers((at) => at.proveCandidate(own, 'bill_vendor', 7, code(text))),
    ),
    waitingCodes: [ofVerifiers(async (at) => (await at.waitingCodes()).get(own))],
    retire: [7, 8].map((id) => ofVerifiers((at) => at.retire(own, id))),
    // Orders are the service's, and serve all accounts.
    keyOrders: [ofVerifiers((at) => at.keyOrders())],
    keepKeyOrder: [ofVerifiers((at) => at.keepKeyOrder(['name', 'account_id']))],
    register: [ofVerifiers((at) => at.register(own, 'bill_vendor', 'https://mirror.example/webhooks/x'))],
    withdraw: [ofVerifiers((at) => at.withdraw(own, 'bill_vendor'))],
    forgetRegistrations: [ofVerifiers((at) => at.forgetRegistrations(own))],
  },
  TokenStore: {
    load: [ofTokens((at) => at.load())],
    forget: [ofTokens((at) => at.forget())],
    exclusively: [
      ofTokens((at) => at.exclusively((known, save) => save(pair).then(() => known))),
      ofTokens((at) => at.exclusively(() => Promise.reject(new Error('refused'))).catch(String)),
    ],
  },
  NotifiedPositions: {
    find: [({ notified }) => notified.find(own)],
    save: [({ notified }) => notified.save(own, '0123456789abcdef:8')],
  },
};

/** These are about the whole file. */
const ofTheFile = ['tokenStore', 'beginDaemon', 'close'];

async function open(path: string) {
  const clock = virtualClock({ auto: true });
  // The same in each file, so that what is drawn can be compared.
  const random = { bytes: (count: number) => new Uint8Array(count), fraction: () => 0 };
  return { clock, secrets: await openSecrets({ path, migrations, clock, random }) };
}

const newFile = (): string => join(temporaryFolder(), 'secrets.db');

function add(path: string, key: string, tables: readonly string[]): void {
  const file = new Driver(path);
  for (const table of tables)
    for (const row of rows[table] ?? []) file.exec(`INSERT INTO ${table} VALUES ('${key}', ${row})`);
  file.close();
}

/** The rows of an account, its connection and its target, in every table that has any. */
const rowsOf = (path: string, key: string): unknown =>
  Object.entries(keyOf).flatMap(([table, column]) =>
    column === null
      ? []
      : ask(path, `SELECT '${table}' AS at, * FROM ${table} WHERE ${column} = '${key}' ORDER BY 2, 3`),
  );

/** What an operation does in a copy of a file: its answer, how long it waited, and the rows of both afterwards. */
async function outcome(operation: Operation, file: string) {
  const path = newFile();
  copyFileSync(file, path);
  const { clock, secrets } = await open(path);
  const answer = revealed(await operation(secrets));
  const waited = clock.monotonic();
  await secrets.close();
  return { own: { answer, waited, rows: rowsOf(path, own) }, other: rowsOf(path, other) };
}

function revealed(value: unknown): unknown {
  if (value instanceof Secret) return value.reveal();
  if (Array.isArray(value)) return value.map(revealed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, revealed(inner)]));
}

const methodsOf = ({ prototype }: { readonly prototype: object }): string[] =>
  Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');

describe('the secrets', () => {
  it('L69 have each table and each operation in the lists of this test', async () => {
    const path = newFile();
    await (await open(path)).secrets.close();
    const tables = ask<{ name: string }>(path, "SELECT name FROM sqlite_schema WHERE type = 'table'");
    expect(tables.map(({ name }) => name).sort()).toEqual(Object.keys(keyOf).sort());
    for (const type of [Verifiers, TokenStore, NotifiedPositions])
      expect(methodsOf(type).sort()).toEqual(Object.keys(operations[type.name] ?? {}).sort());
    expect(methodsOf(Secrets).sort()).toEqual([...ofTheFile].sort());
  });

  it.each(Object.entries(holdings))(
    'L69 of an account with %s neither change nor depend on those of another with equal ids',
    async (_, held) => {
      const [alone, beside] = [newFile(), newFile()];
      await (await open(alone)).secrets.close();
      add(alone, own, held);
      copyFileSync(alone, beside);
      add(beside, other, Object.keys(rows));
      const others = rowsOf(beside, other);
      for (const [type, methods] of Object.entries(operations))
        for (const [method, cases] of Object.entries(methods))
          for (const [index, operation] of cases.entries()) {
            const name = `${type}.${method}, case ${index + 1}`;
            const { own: expected } = await outcome(operation, alone);
            expect(await outcome(operation, beside), name).toEqual({ own: expected, other: others });
          }
    },
  );
});
