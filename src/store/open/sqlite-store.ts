/** The mirror file and its transactions; nothing outside opens one. */
import { dirname } from 'node:path';
import type { Random } from '../../domain/clock.ts';
import { accountStates } from '../reports/account-state.ts';
import { vendorScan } from '../rows/vendor-scan.ts';
import { readingCounter } from '../rows/reading-counter.ts';
import { callbackTransactions } from '../rows/callback-rows.ts';
import { clockSetBacks } from '../transactions/clock-set-back.ts';
import { mirrorClaim, nextEpoch } from '../files/daemon-claim.ts';
import { forgetDaemonFiles, rememberDaemonFiles } from '../files/daemon-files.ts';
import { answerSoon, Database } from '../sqlite/database.ts';
import { deliveryJournal } from '../rows/deliveries.ts';
import { copyMirror } from '../files/export.ts';
import { freeBytes } from '../sqlite/file-systems.ts';
import { findingLedger } from '../rows/findings.ts';
import { gatewayRows } from '../rows/gateway-rows.ts';
import { Outbox } from '../outbox/outbox.ts';
import { queueTransactions } from '../transactions/mark-queue.ts';
import { markWriter } from '../rows/marks.ts';
import { writeTransactions } from '../transactions/writes.ts';
import { receivedDeliveriesOf } from '../reports/received-deliveries.ts';
import { identityRow } from '../files/identity.ts';
import { listMoves } from '../rows/list-moves.ts';
import { mirrorOptions, type MirrorPlace } from '../files/mirror-options.ts';
import { lockedOrClosed, type ProcessLock } from '../files/process-lock.ts';
import { rateLedger } from '../rows/rate-ledger.ts';
import { requestFailures } from '../transactions/failed-requests.ts';
import { readingTransactions } from '../transactions/apply-reading.ts';
import { readings } from '../transactions/readings.ts';
import { prune } from '../transactions/retention.ts';
import { runLedger } from '../rows/runs.ts';
import { sweepAnswerTransactions } from '../transactions/sweep-answers.ts';
import { sweepRequests } from '../rows/sweep-requests.ts';
import type { Store } from '../store.ts';

/** The mirror file, and who works on it. */
export interface MirrorFile extends MirrorPlace {
  /** Gives this process its name among those that work on the file at that path. */
  readonly lockProcess: (database: string, random: Random) => ProcessLock;
}

/** Opens the mirror to write. @throws MirrorError as `Database.open`. */
export async function openMirror(file: MirrorFile): Promise<Store> {
  const { clock } = file;
  const database = await Database.open(mirrorOptions(file));
  const process = await lockedOrClosed(database, () => file.lockProcess(database.path, file.random));
  const { sqlite } = database;
  const setBacks = clockSetBacks(sqlite, clock);
  const counter = readingCounter(database, clock, setBacks);
  const marks = markWriter(sqlite, clock, counter);
  const runs = runLedger(sqlite, clock, counter, process, setBacks);
  const findings = findingLedger(sqlite, clock);
  const deliveries = deliveryJournal(sqlite, marks, sweepRequests(sqlite, counter));
  const gateways = gatewayRows(sqlite, clock);
  const people = vendorScan(sqlite);
  const identity = identityRow(sqlite, clock);
  const receivedDeliveries = receivedDeliveriesOf(sqlite);
  const moves = listMoves(sqlite);
  let states: ReturnType<typeof accountStates> | undefined;

  return {
    ...readingTransactions(database, clock, {
      readings: readings(sqlite, clock, counter, marks),
      runs,
      findings,
      marks,
      deliveries,
    }),
    ...queueTransactions(database, { clock, counter, marks, deliveries, findings }),
    ...callbackTransactions(database, clock),
    ...sweepAnswerTransactions(database, { clock, marks, deliveries, findings }),
    ...writeTransactions(database, { clock, marks, process }),
    path: database.path,
    process,
    takeStamp: () => counter.take(),
    reserveRequest: rateLedger(database, counter, process),
    requestFailures: requestFailures(database, clock),
    outbox: new Outbox(database, { clock, counter }),
    moment: () => counter.moment(),
    addAccounts: (accountIds, served) =>
      database.write(() => {
        for (const accountId of accountIds) people.addAccount(accountId, clock.now());
        return people.serve(served, clock.now());
      }),

    query: (report) => database.read(() => report(sqlite)),
    identity: () => database.read(() => identity.read()),
    async adoptService(service) {
      const isNew = await database.write(() => identity.adopt(service));
      if (isNew) await database.checkpoint();
      return (await database.read(() => identity.read())).service ?? service;
    },
    acceptService: (service) => database.write(() => identity.accept(service)),
    traits: (accountId, vendorids) =>
      database.read(() => vendorids.flatMap((vendorid) => people.traits({ account_id: accountId, vendorid }) ?? [])),

    beginRun: (start) => database.write(() => runs.begin(start)),
    finishRun: (run, end) => database.write(() => runs.finish(run.id, end)),
    unfinishedRuns: (accountId, since) => database.read(() => runs.unfinished(accountId, since)),
    listMoves: (accountId) => database.read(() => moves(accountId)),
    lastSweep: (accountId) => database.read(() => runs.lastSweep(accountId)),
    lastComplete: (accountId) => database.read(() => runs.lastComplete(accountId)),
    lastCompletes: () => database.read(() => runs.lastCompletes()),
    runBefore: (accountId, readSeq, now) => database.read(() => runs.before(accountId, readSeq, now)),
    runBegan: (run) => database.read(() => runs.began(run)),

    async *scannedVendors(accountId) {
      for (let last = 0; ;) {
        const chunk = await database.read(() => people.after(accountId, last));
        const end = chunk.at(-1);
        if (!end) return;
        yield chunk;
        last = end.vendorid;
      }
    },
    countVendors: (accountId) => database.read(() => people.count(accountId)),
    someActive: (accountId) => database.read(() => people.someActive(accountId)),
    markSuspects: (accountId, vendorids) =>
      database.write(() => vendorids.forEach((vendorid) => people.suspect({ account_id: accountId, vendorid }))),

    acceptDeliveries: (list) => database.write(() => deliveries.accept(list), answerSoon),
    retryParked: (which) => database.write(() => deliveries.retry(which)),

    promoteFindings: (accountId, foundBefore) => database.write(() => findings.promote(accountId, foundBefore)),
    addFindings: (run, list) =>
      database.write(() => {
        for (const finding of list) findings.add(run.id, run.accountId, finding);
      }),
    countFindings: (run) => database.read(() => findings.count(run.id)),
    reportFields: (run, names, whole) => database.write(() => findings.fields(run.id, run.accountId, names, whole)),

    enabledGateways: (accountId) => database.read(() => gateways.enabled(accountId)),
    replaceGateways: (accountId, listed) => database.write(() => gateways.replace(accountId, listed)),

    receivedDeliveries: (accountId) => database.read(() => receivedDeliveries(accountId)),
    accountState: (accountId) => database.read(() => (states ??= accountStates(sqlite, clock))(accountId)),
    prune: (keep) => prune(database, keep),
    files: () => database.files(),
    assertOurs: () => database.assertOurs(),
    async beginDaemon(secrets) {
      const begun = await database.write(() => ({
        epoch: nextEpoch(sqlite),
        wasKilled: rememberDaemonFiles(sqlite, { database: database.path, secrets }),
      }));
      await database.keepFor(mirrorClaim(sqlite, begun.epoch));
      return begun;
    },
    unwritable: () => database.unwritable(),
    forgetDaemonFiles: () => database.write(() => forgetDaemonFiles(sqlite), answerSoon),
    freeBytes: () => freeBytes(dirname(database.path)),
    publish: (path, own) => copyMirror(database, path, { random: file.random, own }),

    async close() {
      try {
        await database.close();
      } finally {
        process.release();
      }
    },
  };
}
