/**
 * Where values of secrets are sealed, the operations answer as they do where values are not, whatever was done before; and no value stands
 * in the file as it is.
 */
import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemRandom, type Random } from '../../../../src/domain/clock.ts';
import { Secret } from '../../../../src/domain/secret.ts';
import { KeySealing, type Sealing } from '../../../../src/store/secrets/sealing.ts';
import { sealedColumns } from '../../../../src/store/secrets/sealed-columns.ts';
import { openSecrets, type Secrets } from '../../../../src/store/secrets/secrets.ts';
import { ask, migrations, temporaryFolder } from '../../../support/mirror-file.ts';
import { virtualClock, type VirtualClock } from '../../../support/virtual-clock.ts';

/** Columns that hold no secret: who, what, when, and how far. */
const openColumns = [
  ...['path_tokens.account_id', 'verifiers.account_id', 'verifiers.callbackid', 'verifiers.state'],
  ...['verifiers.received_at', 'verifiers.expires_at', 'verifiers.came_again'],
  ...['awaited_codes.account_id', 'awaited_codes.event', 'awaited_codes.callbackid', 'awaited_codes.asked_at'],
  ...['registrations.account_id', 'registrations.event', 'registrations.registered_at'],
  ...['key_orders.id', 'key_orders.names', 'notified.target', 'notified.place'],
  ...['oauth_tokens.client', 'oauth_tokens.expires_at', 'oauth_tokens.lease_owner', 'oauth_tokens.lease_until_ms'],
  ...['owner.id', 'owner.mirror_id', 'owner.mirror_path', 'owner.daemon_epoch'],
];

interface Step {
  readonly of: string;
  readonly work: (secrets: Secrets) => Promise<unknown>;
}

interface Opened {
  readonly secrets: Secrets;
  readonly clock: VirtualClock;
  readonly folder: string;
  readonly path: string;
}

/** What is drawn is the same in each file. */
function drawn(): Random {
  let count = 0;
  return { bytes: (length) => new Uint8Array(length).fill((count += 37)), fraction: () => 0 };
}

async function open(sealing?: Sealing, folder = temporaryFolder()): Promise<Opened> {
  const path = join(folder, 'secrets.db');
  const clock = virtualClock({ auto: true });
  return {
    folder,
    path,
    clock,
    secrets: await openSecrets({ path, migrations, clock, random: drawn(), ...(sealing && { sealing }) }),
  };
}

function withKeys(...keys: readonly string[]): KeySealing {
  const path = join(temporaryFolder(), 'key');
  writeFileSync(path, keys.join('\n'));
  return new KeySealing(path, systemRandom);
}

const newKey = (): string => randomBytes(32).toString('hex');

const account = fc.constantFrom('one', 'other');
const code = fc.integer({ min: 1, max: 4 }).map((number) => new Secret(`the-code-number-${number}`));
const callback = fc.constantFrom(7, 8);
const place = fc.option(callback);
const event = fc.constantFrom('bill_vendor', 'bill');
const uri = fc.constantFrom('https://mirror.example/one-address', 'https://mirror.example/another-address');
const client = fc.constantFrom('client', 'another client');
const now = Date.UTC(2026, 10, 20, 12);

const tokens = (secrets: Secrets, name: string) =>
  secrets.tokenStore(name, { process: { name: 'this', isAlive: () => true }, onWait: () => undefined });
const step = <Args extends unknown[]>(
  of: string,
  args: { [Index in keyof Args]: fc.Arbitrary<Args[Index]> },
  work: (secrets: Secrets, ...args: Args) => Promise<unknown>,
): fc.Arbitrary<Step> =>
  fc.tuple(...args).map((drawnArgs) => ({
    of: `${of} ${JSON.stringify(revealed(drawnArgs))}`,
    work: (secrets) => work(secrets, ...(drawnArgs as Args)),
  }));

const steps = fc.oneof(
  step('pathToken', [account], ({ verifiers }, id) => verifiers.pathToken(id)),
  step('pathTokens', [], async ({ verifiers }) => [...(await verifiers.pathTokens(['one', 'other']))]),
  step('addressTokens', [account], ({ verifiers }, id) => verifiers.addressTokens(id)),
  step('previousTokens', [], async ({ verifiers }) => [...(await verifiers.previousTokens())].sort()),
  step('rotate', [account], ({ verifiers }, id) => verifiers.rotate(id)),
  step('endRotation', [account, fc.boolean()], async ({ verifiers }, id, isOther) =>
    verifiers.endRotation(id, isOther ? new Secret('the-token-of-others') : await verifiers.pathToken(id)),
  ),
  step('expect', [account, event, place], ({ verifiers }, ...args) => verifiers.expect(...args)),
  step('expectNone', [account, event], ({ verifiers }, ...args) => verifiers.expectNone(...args)),
  step('offer', [account, code, place], ({ verifiers }, ...args) => verifiers.offer(...args)),
  step('candidates', [account, callback], ({ verifiers }, ...args) => verifiers.candidates(...args)),
  step('drop', [account, code], ({ verifiers }, ...args) => verifiers.drop(...args)),
  step('prove', [account, event, callback, code], ({ verifiers }, ...args) => verifiers.prove(...args)),
  step('retire', [account, callback], ({ verifiers }, ...args) => verifiers.retire(...args)),
  step('usable', [account], ({ verifiers }, id) => verifiers.usable(id)),
  step('hasKey', [account, callback], ({ verifiers }, ...args) => verifiers.hasKey(...args)),
  step('register', [account, event, uri], ({ verifiers }, ...args) => verifiers.register(...args)),
  step('withdraw', [account, event], ({ verifiers }, ...args) => verifiers.withdraw(...args)),
  step('save', [client, fc.integer({ min: 1, max: 9 })], (secrets, name, number) =>
    tokens(secrets, name).exclusively((_, save) =>
      save({
        access: new Secret(`the-access-token-${number}`),
        refresh: new Secret(`the-refresh-token-${number}`),
        expiresAt: now + number,
      }),
    ),
  ),
  step('load', [client], (secrets, name) => tokens(secrets, name).load()),
  step('forget', [client], (secrets, name) => tokens(secrets, name).forget()),
);

function revealed(value: unknown): unknown {
  if (value instanceof Secret) return value.reveal();
  if (Array.isArray(value)) return value.map(revealed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, revealed(inner)]));
}

/** All bytes of the file and its journals, as text of one byte each. */
const bytesOf = (folder: string): string =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('');

/** The secret values in a file, and what they are. */
const valuesIn = (path: string) =>
  sealedColumns.flatMap(({ table, column, owner, kind }) =>
    ask<{ owner: string; value: string }>(
      path,
      `SELECT ${owner} AS owner, ${column} AS value FROM ${table} WHERE ${column} IS NOT NULL ORDER BY rowid`,
    ).map((row) => ({ kind, ...row })),
  );

it('each column of the secrets is sealed, or holds nothing that is secret', async () => {
  const { secrets, path } = await open();
  await secrets.close();
  const columns = ask<{ name: string }>(
    path,
    `SELECT s.name || '.' || c.name AS name FROM sqlite_schema s JOIN pragma_table_info(s.name) c
     WHERE s.type = 'table' AND s.name <> 'migrations'`,
  );
  const sealed = sealedColumns.map(({ table, column }) => `${table}.${column}`);
  expect(columns.map(({ name }) => name).sort()).toEqual([...openColumns, ...sealed].sort());
});

it('sealed secrets answer as those that are not, and none of their values stands in the file', async () => {
  const key = newKey();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(steps, fc.constantFrom(0, 60_000, 3_600_000, 90_000_000)), { maxLength: 40 }),
      async (sequence) => {
        const [plain, sealed] = [await open(), await open(withKeys(key))];
        const values = new Set<string>();
        for (const [{ of, work }, pause] of sequence) {
          const [expected, answer] = [revealed(await work(plain.secrets)), revealed(await work(sealed.secrets))];
          expect(answer, of).toEqual(expected);
          for (const { value } of valuesIn(plain.path)) values.add(value);
          for (const { clock } of [plain, sealed]) await clock.advance(pause);
        }
        const bytes = bytesOf(sealed.folder);
        expect([...values].filter((value) => bytes.includes(value))).toEqual([]);
        const at = withKeys(key);
        const opened = valuesIn(sealed.path).map(({ kind, owner, value }) => ({
          kind,
          owner,
          value: at.open(kind, owner, value),
        }));
        expect(opened).toEqual(valuesIn(plain.path));
        await Promise.all([plain.secrets.close(), sealed.secrets.close()]);
      },
    ),
    { numRuns: 50 },
  );
});

/** Secrets with a value in each column that is sealed. */
async function filled(sealing: Sealing): Promise<Opened> {
  const opened = await open(sealing);
  const { verifiers } = opened.secrets;
  await verifiers.pathToken('one');
  await verifiers.rotate('one');
  await verifiers.expect('one', 'bill_vendor', 7);
  await verifiers.offer('one', new Secret('the-code'), 7);
  for (const address of ['https://mirror.example/one-address', 'https://mirror.example/another-address'])
    await verifiers.register('one', 'bill_vendor', address);
  const pair = { access: new Secret('the-access-token'), refresh: new Secret('the-refresh-token'), expiresAt: now };
  await tokens(opened.secrets, 'client').exclusively((_, save) => save(pair));
  await opened.secrets.place.claim({ mirrorId: 'a mirror', path: 'vendors.db' });
  return opened;
}

const begin = ({ secrets }: Opened): Promise<boolean> =>
  secrets.beginDaemon({ mirror_id: 'a mirror', daemon_epoch: 1 }, { isThere: false, isOfAnother: false });

it('what was sealed with a key that is replaced is sealed anew when a daemon begins, so that the key can go', async () => {
  const [old, next] = [newKey(), newKey()];
  const before = await filled(withKeys(old));
  await before.secrets.close();
  const [first, both, second] = [withKeys(old), withKeys(next, old), withKeys(next)];
  const opened = (at: Sealing) => valuesIn(before.path).map(({ kind, owner, value }) => at.open(kind, owner, value));
  const values = opened(first);
  expect(values).toHaveLength(sealedColumns.length + 1);
  const meanwhile = await open(both, before.folder);
  await begin(meanwhile);
  expect(opened(second)).toEqual(values);
  const stored = valuesIn(before.path);
  await meanwhile.secrets.place.endDaemon({ mirror_id: 'a mirror', daemon_epoch: 1 });
  await meanwhile.secrets.close();
  const after = await open(second, before.folder);
  await begin(after);
  expect(valuesIn(before.path)).toEqual(stored);
  await after.secrets.close();
});

it('a daemon does not begin while something is sealed with a key that it does not have', async () => {
  const before = await filled(withKeys(newKey()));
  await before.secrets.close();
  const stored = valuesIn(before.path);
  const other = await open(withKeys(newKey()), before.folder);
  await expect(begin(other)).rejects.toMatchObject({ code: 'secrets_key_unknown' });
  expect(valuesIn(before.path)).toEqual(stored);
  await other.secrets.close();
});
