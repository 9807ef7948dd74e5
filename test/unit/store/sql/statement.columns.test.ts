/**
 * Every statement of the store is prepared against the migrated schema, and returns what the code reads. Statements are found in the source
 * and recorded as they are made; one that is not recorded here fails the test.
 */
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it, onTestFinished, vi } from 'vitest';
import { fileOf } from '../../../../src/store/sqlite/connection.ts';
import type { Sqlite } from '../../../../src/store/sqlite/driver.ts';
import type * as Connections from '../../../../src/store/sqlite/connection.ts';
import type * as Statements from '../../../../src/store/sql/statement.ts';
import { systemRandom } from '../../../../src/domain/clock.ts';
import { Secret } from '../../../../src/domain/secret.ts';
import { balanceFields } from '../../../../src/domain/vendor.ts';
import { rowQuery } from '../../../../src/store/export/export-rows.ts';
import { isMirrorAt, refuseOtherFiles, serviceOf } from '../../../../src/store/files/identity.ts';
import { Forgetter, storedFields } from '../../../../src/store/forget.ts';
import { listDeliveries } from '../../../../src/store/deliveries.ts';
import { listGateways } from '../../../../src/store/gateways.ts';
import { unlistedGateways } from '../../../../src/store/not-honoured.ts';
import { openMirror } from '../../../../src/store/mirror.ts';
import { heldDerivation } from '../../../../src/store/derivation.ts';
import {
  changedAfter,
  freshnessRows,
  keptChanges,
  vendorKeysAfter,
  vendorRows,
} from '../../../../src/store/sink/mirror-rows.ts';
import { mirrorToCompare } from '../../../../src/store/sink/sink.ts';
import { publicationReports } from '../../../../src/store/publications.ts';
import { AccountFigures } from '../../../../src/store/reports/account-figures.ts';
import { connectionFailures } from '../../../../src/store/account-reports.ts';
import { changePage, fieldChanges, readTimeline } from '../../../../src/store/reports/change-feed.ts';
import {
  accountIds,
  accountsNotServed,
  keptAccounts,
  knownConnectionsAt,
} from '../../../../src/store/reports/known-accounts.ts';
import { owedByAccount } from '../../../../src/store/reports/owed.ts';
import { accountsWithUnsteadyFields } from '../../../../src/store/unsteady-fields.ts';
import { isUnused } from '../../../../src/store/runs.ts';
import { parkedVendors, targetReports } from '../../../../src/store/reports/outbox-report.ts';
import { accountsThatForgot, accountsWith, vendorDetails } from '../../../../src/store/reports/vendor-detail.ts';
import { countIn, identityIn, numbersIn } from '../../../../src/store/copy/copy-mirror.ts';
import { noteMove, takeBackMove } from '../../../../src/store/files/moved.ts';
import { listVendors, vendorPage, vendorTotals } from '../../../../src/store/reports/vendor-list.ts';
import { exportSecrets } from '../../../../src/store/secrets/sealed-backup.ts';
import { openSecrets } from '../../../../src/store/secrets/secrets.ts';
import {
  migrations,
  namedProcess,
  packageRoot,
  temporaryFolder,
  vendor,
  writeMirror,
} from '../../../support/mirror-file.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const recorded = vi.hoisted(() => new Map<string, readonly string[]>());

const record = vi.hoisted(() => (sqlite: Sqlite, text: string): void => {
  const caller = (new Error().stack ?? '')
    .split('\n')
    .find((line) => /\/src\/store\/(?!sql\/statement|sqlite\/connection)/.test(line));
  const [, file = '', line = ''] = /\/src\/store\/(.*\.ts):(\d+)/.exec(caller ?? '') ?? [];
  const prepared = sqlite.prepare(text);
  recorded.set(`${file}:${line}`, prepared.reader ? prepared.columns().map(({ name }) => name) : []);
});

vi.mock('../../../../src/store/sqlite/connection.ts', async (original) => {
  const real = await original<typeof Connections>();
  const { compiled, worded } = await vi.importActual<typeof Statements>('../../../../src/store/sql/statement.ts');
  class RecordingConnection extends real.SqliteConnection {
    override prepare<Args extends object, Row>(build: Parameters<typeof real.fileStatement<Args, Row>>[1]) {
      record(this.sqlite, compiled(build).text);
      return super.prepare(build);
    }

    override rows<Row>(query: Parameters<typeof real.runFileQuery<Row>>[1]) {
      record(this.sqlite, query.compile().sql);
      return super.rows(query);
    }
  }
  const recordedStatement = (sqlite: Sqlite, build: Parameters<typeof real.fileStatement>[1]) => {
    record(sqlite, compiled(build).text);
    return real.fileStatement(sqlite, build);
  };
  const fileStatement = (sqlite: Sqlite, build?: Parameters<typeof real.fileStatement>[1]) =>
    build
      ? recordedStatement(sqlite, build)
      : (words: TemplateStringsArray, ...parts: readonly Statements.Part<object>[]) =>
          recordedStatement(sqlite, worded(words, parts));
  const runFileQuery: typeof real.runFileQuery = (sqlite, query) => {
    record(sqlite, query.compile().sql);
    return real.runFileQuery(sqlite, query);
  };
  return { ...real, SqliteConnection: RecordingConnection, fileStatement, runFileQuery };
});

/** What runs before the schema is there, or in another thread or process and without a table. */
const elsewhere =
  /^(sqlite\/migrate|export\/export-program|postgres\/\w+|places\/postgres-(read-)?place|secrets\/postgres-secrets)\.ts/;

/** The columns that the code reads, by the place of the statement. */
function readColumns(): Map<string, readonly string[]> {
  const config = ts.readConfigFile(join(packageRoot, 'tsconfig.json'), (name) => ts.sys.readFile(name))
    .config as unknown;
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, packageRoot);
  const ofStore = fileNames.filter((name) => name.includes('/src/store/'));
  const program = ts.createProgram(ofStore, options);
  const checker = program.getTypeChecker();
  const found = new Map<string, readonly string[]>();
  const visit = (node: ts.Node): void => {
    ts.forEachChild(node, visit);
    // In words, `statement(db)` is the tag of a template.
    const made = ts.isTaggedTemplateExpression(node) ? node.tag : node;
    if (
      !ts.isCallExpression(made) ||
      ts.isTaggedTemplateExpression(made.parent) === (made === node) ||
      !/^(statement|fileStatement|runQuery|runFileQuery)$/.test(made.expression.getText())
    )
      return;
    const file = node.getSourceFile();
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    const type = checker.getTypeAtLocation(node);
    const row = checker.getTypeArguments((checker.getAwaitedType(type) ?? type) as ts.TypeReference).at(-1);
    const names = row ? checker.getPropertiesOfType(row).map(({ name }) => name) : [];
    // Results of Kysely's builders that return no row.
    const columns = names.filter((name) => !/^num[A-Z]\w+Rows$|^insertId$/.test(name));
    found.set(`${file.fileName.replace(/^.*\/src\/store\//, '')}:${line + 1}`, columns);
  };
  for (const name of ofStore)
    if (!/\/(sql\/statement|sqlite\/connection)\.ts$/.test(name)) visit(program.getSourceFile(name) ?? ([] as never));
  return new Map([...found].filter(([place]) => !elsewhere.test(place)));
}

it('returns the columns that the code reads, of the schema as it is migrated', { timeout: 120_000 }, async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'vendors.db');
  const secretsPath = join(folder, 'secrets.db');
  const clock = virtualClock({ auto: true });
  const file = { path, migrations, clock, random: systemRandom };
  const account_id = '6BApk';
  const accounts = [{ account_id, added_at: '2026-11-20 09:00:00.000' }];
  await writeMirror(path, clock, { _accounts: accounts, vendors: [vendor(1)] });

  const secrets = await openSecrets({ ...file, path: secretsPath });
  onTestFinished(() => secrets.close());
  const mirror = await openMirror({ ...file, lockProcess: namedProcess() });
  const { mirrorId } = await mirror.identity();
  await secrets.place.claim({ mirrorId, path });
  const { epoch, left } = await mirror.place.beginDaemon(secretsPath);
  await secrets.beginDaemon(epoch, left);
  await mirror.noteListener({ host: '127.0.0.1', isClosedByDefault: true });
  secrets.tokenStore('client', { process: mirror.place.process, onWait: () => undefined });
  await mirror.accountStates.of([account_id]);
  for await (const removed of mirror.prune({ deliveriesSince: 1, runsSince: 1, versionsSince: 1 }))
    expect(removed).toBe(0);
  await changePage(mirror.query, clock, { since: '0123456789abcdef:0', limit: 1 });
  await changePage(mirror.query, clock, { limit: 1 });
  await vendorPage(mirror.query, clock, { limit: 1 });
  await freshnessRows(mirror.query, clock);
  await mirrorToCompare(mirror.query, 'postgres://…', []);
  await mirror.query(async (sqlite) => {
    await heldDerivation(sqlite);
    await vendorRows(sqlite, [{ account_id, vendorid: 1 }]);
    await vendorKeysAfter(sqlite, { account_id, vendorid: 0 }, 1);
    await changedAfter(sqlite, [{ account_id, vendorid: 1 }], 0);
    await accountsWithUnsteadyFields(sqlite);
    await keptChanges(sqlite, { after: 0, until: 1, limit: 1 });
    await accountIds(sqlite);
    await accountsNotServed(sqlite, { accounts: [], settingsFile: '' });
    await keptAccounts(sqlite);
    await connectionFailures(sqlite);
    await listDeliveries(sqlite, {});
    await listGateways(sqlite, undefined);
    await unlistedGateways(sqlite, undefined);
    await publicationReports(sqlite);
    rowQuery({ sqlite: fileOf(sqlite), path }, { view: 'vendors' });
    await readTimeline(sqlite, { account_id, vendorid: 1 }, { before: undefined, limit: 1 });
    await fieldChanges(sqlite, { account_id, vendorid: 1, from: 0, to: 1 });
    await targetReports(sqlite);
    await parkedVendors(sqlite, 1);
    await accountsThatForgot(sqlite, 1);
    await accountsWith(sqlite, 1);
    await vendorDetails(sqlite, 1, undefined);
    await listVendors(sqlite, { limit: 1 });
    await vendorTotals(sqlite, {});
    await storedFields(sqlite, ['note']);
    new AccountFigures(sqlite, clock);
    owedByAccount(sqlite);
    await serviceOf(sqlite);
    noteMove(sqlite, { place: 'elsewhere', moved_at: '2026-11-20 12:00:00.000' });
    expect(await takeBackMove(sqlite)).toBe(true);
    identityIn(fileOf(sqlite));
    countIn(fileOf(sqlite), 'vendors');
    numbersIn(fileOf(sqlite));
  });
  await knownConnectionsAt(path);
  isMirrorAt(path, mirrorId);
  isUnused(path);
  await mirror.place.endDaemon();
  await secrets.place.endDaemon(epoch);
  await exportSecrets(join(folder, 'backup'), {
    passphrase: new Secret('words'),
    random: systemRandom,
    cost: 1024,
    own: { database: path, secrets: secretsPath } as never,
  });
  await mirror.close();
  const forgetter = await Forgetter.open(file);
  const files = { database: path, secrets: secretsPath };
  refuseOtherFiles(files);
  await forgetter.fields(['note', ...balanceFields, 'tax_defaults']);
  await forgetter.vendor(account_id, 1);
  await forgetter.account(account_id);
  await forgetter.close();
  refuseOtherFiles(files);

  const read = readColumns();
  expect([...read.keys()].filter((place) => !recorded.has(place))).toEqual([]);
  const missing = [...read].flatMap(([place, names]) =>
    names.filter((name) => !recorded.get(place)?.includes(name)).map((name) => `${place}: ${name}`),
  );
  expect(missing).toEqual([]);
});
