/** The mirror: opens the file, and is everything that the rest of the program may do with it, by area. */
import { statSync } from 'node:fs';
import { timestamp, type Clock, type Random } from '../domain/clock.ts';
import type { ReadStamp, ReserveRequest } from '../domain/reading.ts';
import type { ProcessLock } from '../domain/processes.ts';
import type { Publication } from '../settings/export-format.ts';
import { AccountRegister, AccountRows } from './accounts.ts';
import { Callbacks } from './callbacks.ts';
import { Deliveries, expiringDeliveries, SweepRequestWriter } from './deliveries.ts';
import { Derivation } from './derivation.ts';
import { Details } from './details.ts';
import type { Exported } from './export/formats.ts';
import type { ProcessOptions } from './export/write-export.ts';
import { IdentityRow, rememberListener, type Identity, type ListenerPlace } from './files/identity.ts';
import { FilePlace } from './places/file-place.ts';
import type { PostgresMirror } from './postgres/open.ts';
import type { Place } from './places/place.ts';
import { lockedOrClosed, refuseMigrationBesideDaemon } from './files/locks.ts';
import { refuseMoved } from './files/moved.ts';
import { expiringFindings, Findings } from './findings.ts';
import { Gateways } from './gateways.ts';
import { expiringVersions } from './history.ts';
import { Listings } from './listings.ts';
import { Marks, moveMarks } from './marks.ts';
import { LaggingCopies } from './lagging-copies.ts';
import { Outbox } from './outbox.ts';
import { PublicationRows } from './publications.ts';
import { Queue } from './queue.ts';
import { RateLedger } from './rate-ledger.ts';
import { mirrorOptions, type MirrorFileOptions } from './reader.ts';
import { ClockSetBackLog, ReadingCounter } from './reading-counter.ts';
import { ReadingWriter } from './reading-writer.ts';
import { Readings } from './readings.ts';
import { receivedDeliveriesOf, type ReceivedDeliveries } from './account-reports.ts';
import { AccountStates } from './account-states.ts';
import type { ServedAccounts } from './reports/known-accounts.ts';
import { NotHonoured } from './not-honoured.ts';
import { Refusals } from './refusals.ts';
import { RequestFailures } from './request-failures.ts';
import { removeExpired, type RetentionLimits } from './retention.ts';
import { dropFreshness, expiringRuns, Runs, type Run, type RunEnd } from './runs.ts';
import { ServiceKnowledge } from './service-knowledge.ts';
import type { Database } from './sql/database.ts';
import { SqliteDatabase } from './sqlite/database.ts';
import type { Query } from './sql/statement.ts';
import { moveSweepRequests, SweepRequests } from './sweep-requests.ts';
import { forgetWhenKnown, Undecided } from './undecided.ts';
import { UnsteadyFields } from './unsteady-fields.ts';
import { Vendors } from './vendors.ts';
import { Writes } from './writes.ts';

export interface MirrorFile extends MirrorFileOptions {
  /** Registers this process among those that use the mirror at that path. */
  readonly lockProcess: (database: string, random: Random) => ProcessLock;
}

/**
 * Opens the mirror to write.
 * @throws MirrorError as `Database.open`, `already_running` where it must be migrated under a daemon, and as `refuseMoved`.
 */
export async function openMirror(file: MirrorFile): Promise<Store> {
  const mayMigrate = (): void => refuseMigrationBesideDaemon(file.path);
  const database = await SqliteDatabase.open({ ...mirrorOptions(file), mayMigrate });
  const process = await lockedOrClosed(database, () => file.lockProcess(database.path, file.random));
  const place = new FilePlace(database, process);
  try {
    // After this process can be seen: whoever moves the mirror looks for it once more.
    await database.read(() => refuseMoved(database.connection, file.path));
    return new Store(place, file);
  } catch (error) {
    await place.close();
    throw error;
  }
}

/** Opens a mirror in PostgreSQL to write. @throws MirrorError as `PostgresDatabase.open`. */
export async function openPostgresMirror(options: PostgresMirror): Promise<Store> {
  const { openPostgres } = await import('./postgres/open.ts');
  const { PostgresPlace } = await import('./places/postgres-place.ts');
  const { database, process } = await openPostgres(options);
  return new Store(new PostgresPlace(database, process), options);
}

export class Store {
  readonly readings: Readings;
  readonly vendors: Vendors;
  /** What lists leave out and reads by id carry. */
  readonly details: Details;
  /** Derives rows again that older rules wrote. */
  readonly derivation: Derivation;
  readonly listings: Listings;
  readonly runs: Runs;
  readonly findings: Findings;
  readonly deliveries: Deliveries;
  readonly gateways: Gateways;
  readonly queue: Queue;
  readonly callbacks: Callbacks;
  readonly sweepRequests: SweepRequests;
  readonly undecided: Undecided;
  readonly writes: Writes;
  readonly serviceKnowledge: ServiceKnowledge;
  readonly requestFailures: RequestFailures;
  /** Copies for readers that a daemon keeps. */
  readonly publications: PublicationRows;
  /** Requests to callback addresses that were refused. */
  readonly refusals: Refusals;
  /** Optional requests that the service does not honour. */
  readonly notHonoured: NotHonoured;
  /** By name of connection. */
  readonly connectionFailures: RequestFailures;
  /** The stored state of each account and its latest activity. */
  readonly accountStates: AccountStates;
  /** Pending messages of outgoing webhooks. */
  readonly outbox: Outbox;
  /** Which accounts were added and paused by command. */
  readonly accountRegister: AccountRegister;
  /** Takes the number of a request and a place in the rate limit that all processes share. */
  readonly reserveRequest: ReserveRequest;
  /** What depends on where the mirror is kept. */
  readonly place: Omit<Place, 'database' | 'publish' | 'close'>;
  readonly path: string;
  readonly #place: Place;
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #counter: ReadingCounter;
  readonly #unsteady: UnsteadyFields;
  readonly #rateLedger: RateLedger;
  readonly #accounts: AccountRows;
  readonly #identity: IdentityRow;
  readonly #received: (accountId: string) => Promise<ReceivedDeliveries>;
  /** Runs a report on one consistent state. A field, because reports get `query` without the store. */
  readonly query: Query = (report) => this.#database.read(() => report(this.#database.connection));

  constructor(place: Place, { clock, random }: Pick<MirrorFile, 'clock' | 'random'>) {
    const { database, process } = place;
    const { connection: db } = database;
    const corrections = [moveMarks(db), moveSweepRequests(db), dropFreshness(db), forgetWhenKnown(db)];
    const setBacks = new ClockSetBackLog(db, clock, corrections);
    const counter = new ReadingCounter(db, clock, setBacks);
    const marks = new Marks(db, clock, counter);
    const rateLedger = new RateLedger(database, { clock, counter, process });
    const runs = new Runs(database, { clock, counter, process, setBacks });
    const findings = new Findings(database, clock);
    const deliveries = new Deliveries(database, marks, new SweepRequestWriter(db, counter));
    const unsteady = new UnsteadyFields(db, findings);
    const copies = new LaggingCopies(db, clock, counter);
    const writer = new ReadingWriter(db, clock, counter, { marks, copies, unsteady });
    this.queue = new Queue(database, { clock, counter, marks, deliveries, findings });
    const { queue } = this;
    this.readings = new Readings(database, clock, { copies, writer, runs, findings, marks, deliveries, queue });
    this.vendors = new Vendors(database, marks);
    this.derivation = new Derivation(database, clock);
    this.details = new Details(database, clock, { findings, unsteady });
    this.listings = new Listings(database);
    this.runs = runs;
    this.findings = findings;
    this.deliveries = deliveries;
    this.gateways = new Gateways(database, clock);
    this.callbacks = new Callbacks(database, clock);
    this.undecided = new Undecided(database, clock);
    this.sweepRequests = new SweepRequests(database, { clock, marks, deliveries, findings });
    this.writes = new Writes(database, { clock, marks, process });
    this.serviceKnowledge = new ServiceKnowledge(database, clock);
    this.publications = new PublicationRows(database, clock);
    this.refusals = new Refusals(database);
    this.requestFailures = new RequestFailures(database, clock, 'account');
    this.notHonoured = new NotHonoured(database, { clock, counter, findings });
    this.connectionFailures = new RequestFailures(database, clock, 'connection');
    this.outbox = new Outbox(database, { clock, counter });
    this.accountRegister = new AccountRegister(database, clock);
    this.accountStates = new AccountStates(database, { clock, process });
    this.#rateLedger = rateLedger;
    this.reserveRequest = (demand) => rateLedger.reserve(demand);
    this.path = database.path;
    this.place = place;
    this.#place = place;
    this.#database = database;
    this.#clock = clock;
    this.#random = random;
    this.#counter = counter;
    this.#unsteady = unsteady;
    this.#accounts = new AccountRows(db);
    this.#identity = new IdentityRow(db, clock);
    this.#received = receivedDeliveriesOf(db);
  }

  takeStamp(): Promise<ReadStamp> {
    return this.#rateLedger.takeStamp();
  }

  /** Mirror time now, in milliseconds: never runs backwards, and is the same in every process. */
  moment(): Promise<number> {
    return this.#database.read(() => this.#counter.moment());
  }

  /** Ends a sweep, with the findings that are about the account and not about a vendor. @returns notes for the run report. */
  finishSweep(run: Run, end: RunEnd): Promise<string[]> {
    return this.#database.write(async () => {
      const notes = [...(await this.notHonoured.addFindings(run)), ...(await this.#unsteady.report(run))];
      await this.findings.reportUnreadable(run);
      await this.runs.finish(run, end);
      return notes;
    });
  }

  /** Draws the conclusions from a clock that was set back since a request last left, if it was. */
  async noticeClockSetBack(): Promise<void> {
    if (await this.#database.read(() => this.#counter.isSetBack()))
      await this.#database.writeWithoutSync(() => this.#counter.notice());
  }

  /** Records by how many milliseconds this machine's clock is ahead of the service's; null where it is not known to be wrong. */
  noteClock(aheadBy: number | null): Promise<void> {
    return this.#database.writeWithoutSync(() => this.#counter.noteClock(aheadBy));
  }

  /** Adds accounts, and records the accounts that the settings file names. @returns accounts that it no longer names. */
  addAccounts(accountIds: readonly string[], served: ServedAccounts): Promise<string[]> {
    return this.#database.write(() => {
      for (const accountId of accountIds) this.#accounts.add(accountId, this.#clock.now());
      return this.#accounts.serve(served, this.#clock.now());
    });
  }

  identity(): Promise<Identity> {
    return this.#database.read(() => this.#identity.read());
  }

  /** Binds the mirror to a service, unless it is bound already. @returns the service that it is bound to. */
  async adoptService(service: string): Promise<string> {
    const isNew = await this.#database.write(() => this.#identity.adopt(service));
    if (isNew) await this.#database.checkpoint();
    return (await this.identity()).service ?? service;
  }

  /** Binds the mirror to a service, after a person confirmed it. */
  async acceptService(service: string): Promise<void> {
    await this.#database.write(() => this.#identity.accept(service));
    await this.#database.checkpoint();
  }

  /** The deliveries of an account, and the changes that none announced. */
  receivedDeliveries(accountId: string): Promise<ReceivedDeliveries> {
    return this.#database.read(() => this.#received(accountId));
  }

  /**
   * Removes expired settled deliveries, findings, runs, and ended versions, a short batch at each step.
   * @returns the number of removed rows of each batch.
   */
  async *prune({ deliveriesSince, runsSince, versionsSince }: RetentionLimits): AsyncGenerator<number, void, void> {
    if (deliveriesSince !== undefined)
      for (const expiring of [expiringDeliveries, expiringFindings])
        yield* removeExpired(this.#database, expiring, deliveriesSince);
    if (runsSince !== undefined) yield* removeExpired(this.#database, expiringRuns, runsSince);
    if (versionsSince !== undefined) yield* removeExpired(this.#database, expiringVersions, versionsSince);
  }

  /** As `rememberListener`. */
  noteListener(place: ListenerPlace): Promise<boolean> {
    const now = timestamp(this.#clock.now());
    return this.#database.write(() => rememberListener(this.#database.connection, place, now));
  }

  /** As `Place.publish`. */
  publish(publication: Publication, options: Omit<ProcessOptions, 'random'>): Promise<Exported> {
    return this.#place.publish(publication, { random: this.#random, ...options });
  }

  /** When the file at that path was written, milliseconds since 1970; undefined where there is none. */
  publishedAt(path: string): number | undefined {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  }

  async close(): Promise<void> {
    try {
      await this.#rateLedger.close();
    } finally {
      await this.#place.close();
    }
  }
}
