/** One seed, from its first request to its last: a phase with faults, in which nothing may go wrong, and one without, in which all must come right. */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom, seedOf } from '../../../src/sandbox/core/random.ts';
import { Sandbox } from '../../../src/sandbox/service.ts';
import type { RunReport } from '../../../src/sync/run.ts';
import { memory } from '../../support/memory.ts';
import { Auditor } from '../oracles/auditor.ts';
import { EventLog } from '../oracles/event-log.ts';
import { Follower } from '../oracles/follower.ts';
import { FileStore } from '../machine/file-store.ts';
import { ServerStore } from '../machine/postgres/server-store.ts';
import { Supervisor, type SupervisorOptions } from '../machine/supervisor.ts';
import { settingsOf, type Daemon } from '../machine/process.ts';
import { converge, type Convergence } from '../oracles/liveness.ts';
import { DeliveryOracle } from '../oracles/delivery-oracle.ts';
import { accounts as allAccounts, foreignUri, sharedAccount, token } from '../plan/accounts.ts';
import type { Plan } from '../plan/plan.ts';
import { reachOf, type Reach } from './reach.ts';
import { wrongRequests } from '../oracles/requests.ts';
import { Network } from '../machine/network.ts';
import { Person } from '../events/person.ts';
import { wrongWrites } from '../oracles/writes.ts';
import { Stopped, Timeline } from '../machine/timeline.ts';
import { Trace } from '../machine/trace.ts';
import type { WorldStore } from '../machine/world-store.ts';
import { planFaults } from '../events/faults.ts';
import { planWorkload } from '../events/workload.ts';

export interface Outcome {
  readonly seed: number;
  /** Broken promises, the first ones first; none is as it should be. */
  readonly broken: readonly string[];
  readonly hash: string;
  readonly reach: Reach;
}

const minute = 60_000;
/** A reader comes by so often, whatever the program does; in milliseconds. */
const betweenLooks = 2.9 * minute;
/** Another one comes by where a transaction was just committed, and sees what stands between it and the next: after one of so many. */
const commitsToLook = 100;
/** The processes of the second installation have numbers beyond these. */
const numbersOfFirst = 1_000;
/** More says nothing more. */
const enough = 20;

export interface SimulateOptions {
  /** Called with every line of the trace. */
  readonly listen?: ((line: string) => void) | undefined;
  /** The simulation ends as soon as this promise is broken. */
  readonly until?: string | undefined;
  /** The address of the PostgreSQL that keeps the mirror, as somebody who may make schemas there; without one, it is a file. */
  readonly postgres?: string | undefined;
}

/** Runs a plan to its end. */
export async function simulate(plan: Plan, { listen, until, postgres }: SimulateOptions = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(memory, 'simulation-'));
  const timeline = new Timeline(() => store.settled());
  const settings = settingsOf(plan);
  const { seed } = plan;
  const store: WorldStore =
    postgres === undefined
      ? await FileStore.make({ folder, settings, timeline })
      : new ServerStore({ address: postgres, seed, folder, settings, timeline });
  const trace = new Trace(() => timeline.now, listen);
  const broken: string[] = [];
  const report = (promise: string, what: string): void => {
    const words = `${promise} ${what}`;
    if (broken.length >= enough || broken.includes(words)) return;
    broken.push(words);
    trace.write('BROKEN', words);
    if (promise === until) timeline.stop();
  };
  const which = seededRandom(seedOf(seed, 'which process'));
  const looks = seededRandom(seedOf(seed, 'looks'));
  const convergences: Convergence[] = [];
  const accounts = allAccounts.slice(0, plan.accounts);
  const keys = (): string[] =>
    accounts.flatMap((account) => sandbox.callbacks(account).all()).map(({ verifier }) => verifier);
  const deliveryOracle = new DeliveryOracle({
    plan,
    timeline,
    trace,
    // Of two processes, whichever a delivery meets takes it.
    daemon: () => (second?.daemon && which.happens(0.5) ? second.daemon : supervisor.daemon),
    keys,
    broken: report,
  });
  const sandbox = new Sandbox(
    {
      seed: String(plan.seed),
      accounts,
      token,
      vendors: plan.vendors,
      world: plan.world,
      rateLimits: { all: plan.vendorsRate, callbacks: 20, windowSeconds: 60 },
      deliveries: { delay: [200, 3_000] },
    },
    {
      clock: timeline.clock,
      post: (...sent) => (sent[0] === foreignUri ? Promise.resolve({ status: 200 }) : deliveryOracle.post(...sent)),
    },
  );
  const callbacks = sandbox.callbacks(sharedAccount);
  const foreign = callbacks.add(timeline.clock.now(), 'bill_vendor', foreignUri);
  callbacks.verify(timeline.clock.now(), foreign, foreign.verifier);
  const network = new Network({ plan, accounts, sandbox, timeline, trace });
  const { lag } = settings.sync;
  const serves = (): boolean => supervisor.daemon !== undefined;
  const lives = (name: string): boolean => supervisor.lives(name) || second?.lives(name) === true;
  const observers = accounts.map((account) => {
    const eventLog = new EventLog(account, sandbox, timeline);
    const view = network.views.get(account)!;
    const seen = { account, plan, view, lag, broken: report, now: () => timeline.now };
    const follower = new Follower({ ...seen, eventLog, wallError: () => supervisor.clock.wallError });
    const wallError = (): number => supervisor.clock.wallError;
    const auditor = new Auditor({
      ...seen,
      follower,
      eventLog,
      deliveryOracle,
      store,
      serves,
      lives,
      wallError,
    });
    const runs: RunReport[] = [];
    const vendorService = sandbox.vendors(account);
    const daemon = (): Daemon | undefined => supervisor.daemon;
    const person = new Person({ plan, account, vendorService, timeline, trace, daemon });
    return { account, eventLog, follower, auditor, runs, person };
  });
  const lookAtAll = (): void => {
    for (const { auditor } of observers) auditor.look();
  };
  const supervising: Omit<SupervisorOptions, 'numbersAfter'> = {
    plan,
    store,
    timeline,
    network,
    trace,
    onRun: (report, daemon) => {
      const observer = observers.find(({ account }) => account === report.run.accountId)!;
      observer.runs.push(report);
      trace.write(
        'run',
        daemon,
        ...(accounts.length > 1 ? [report.run.accountId] : []),
        report.trigger,
        report.outcome,
        JSON.stringify(report.counts),
        report.error?.message.replaceAll(folder, '') ?? '',
      );
      observer.auditor.look();
    },
    onCommit: () => {
      if (!network.isFaultFree && looks.happens(1 / commitsToLook)) lookAtAll();
    },
    onClockSet: () => {
      lookAtAll();
      for (const { auditor } of observers) auditor.forgetMoments();
      deliveryOracle.forgetMoments();
    },
    onDown: () => {
      for (const { person } of observers) person.interrupt();
      lookAtAll();
    },
  };
  const supervisor: Supervisor = new Supervisor({ ...supervising, numbersAfter: 0 });
  const second =
    store.server && plan.server.second === 'yes'
      ? new Supervisor({ ...supervising, numbersAfter: numbersOfFirst })
      : undefined;
  const unhandled = (reason: unknown): void => report('P8', `nobody heard of a failure: ${String(reason)}`);
  process.on('unhandledRejection', unhandled);
  try {
    for (const [nth, account] of accounts.entries())
      planWorkload({ plan, nth, vendorService: sandbox.vendors(account), timeline, trace });
    for (const { person } of observers) person.plan();
    planFaults({ plan, timeline, supervisor, second, store, network, accounts, sandbox, trace });
    supervisor.start();
    const look = (): void => {
      if (!network.isFaultFree) lookAtAll();
      timeline.timer(betweenLooks, look);
    };
    timeline.timer(betweenLooks, look);
    await timeline.pass(plan.minutes * minute);

    network.isFaultFree = deliveryOracle.isFaultFree = true;
    network.outage = undefined;
    supervisor.endFaults();
    second?.close();
    for (const { person } of observers) person.end();
    // What was sent by then arrives.
    if (plan.writes > 0) await timeline.pass(2 * plan.latency);
    const surroundings = { plan, timeline, supervisor, network, sandbox, trace, broken: report };
    convergences.push(...(await converge(observers.map((observer) => ({ ...observer, ...surroundings })))));

    for (const [promise, what] of wrongRequests(network.arrivals, sandbox, plan)) report(promise, what);
    for (const { account, eventLog, person } of observers) {
      const { emptied } = network.views.get(account)!;
      const evidence = { account, intents: person.intents, eventLog, lag, emptied };
      for (const what of wrongWrites(network.arrivals, evidence)) report('P9', what);
    }
    const pathTokens = [...(supervisor.daemon?.tokens.values() ?? [])].map((secret) => secret.reveal());
    supervisor.close();
    const known = [token, ...keys(), ...pathTokens];
    for (const place of store.holding(known)) report('P6', `${place} holds a secret`);
  } catch (error) {
    if (!(error instanceof Stopped))
      broken.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    process.off('unhandledRejection', unhandled);
    supervisor.close();
    second?.close();
    store.close();
    sandbox.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  const reach = reachOf({
    plan,
    network,
    deliveryOracle,
    supervisor,
    eventLogs: observers.map(({ eventLog }) => eventLog),
    followers: observers.map(({ follower }) => follower),
    runs: observers.flatMap(({ runs }) => runs),
    people: observers.map(({ person }) => person),
    convergences,
  });
  return { seed: plan.seed, broken, hash: trace.hash, reach };
}
