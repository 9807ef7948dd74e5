/** Keeps a process running, as a service manager does: starts it, restarts it when it died, and lets it die. */
import type { RunReport } from '../../../src/sync/run.ts';
import { Meetings } from './meetings.ts';
import { ProcessClock } from './process-clock.ts';
import { startDaemon, type Daemon } from './process.ts';
import type { Plan } from '../plan/plan.ts';
import type { Network } from './network.ts';
import type { Timeline } from './timeline.ts';
import type { Trace } from './trace.ts';
import type { Edge, Fate, Use, WorldStore } from './world-store.ts';

export interface SupervisorOptions {
  readonly plan: Plan;
  readonly store: WorldStore;
  /** The first of its processes has the number after this one. */
  readonly numbersAfter: number;
  readonly timeline: Timeline;
  readonly network: Network;
  readonly trace: Trace;
  readonly onRun: (report: RunReport, daemon: number) => void;
  /** A transaction that writes was committed, and its process goes on. */
  readonly onCommit: () => void;
  /** Somebody is about to set the wall clock. */
  readonly onClockSet: () => void;
  /** The process does not serve any more: it is about to end, or did. */
  readonly onDown: () => void;
}

/** How long a start that failed waits for the next one. */
const startAgainAfter = 5_000;

export class Supervisor {
  /** The process, while it serves. */
  daemon: Daemon | undefined;
  readonly counts = {
    crashes: 0,
    insideHandshake: 0,
    beforeCommit: 0,
    afterCommit: 0,
    failedStarts: 0,
    restarts: 0,
    cuts: 0,
  };
  /** Verdicts on readings, by kind. */
  readonly verdicts = new Map<string, number>();
  readonly meetings: Meetings;
  readonly #options: SupervisorOptions;
  #clock: ProcessClock;
  #use: Use | undefined;
  /** By which other processes know the one that is there. */
  #name: string | undefined;
  #number: number;
  /** After so many more edges of transactions the process dies, or its connection is cut. */
  #edgesLeft: number | undefined;
  #edgesToCut: number | undefined;
  #isClosed = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.meetings = new Meetings(
      () => options.store.reader('mirror'),
      () => this.daemon !== undefined,
    );
    this.#number = options.numbersAfter;
    this.#clock = new ProcessClock(options.timeline, 0, 0);
  }

  get clock(): ProcessClock {
    return this.#clock;
  }

  /** Starts the process; where it cannot be started, again a little later. */
  start(): void {
    if (this.#isClosed) return;
    const { plan, store, timeline, network, trace, onRun } = this.#options;
    this.#number += 1;
    const number = this.#number;
    const clock = new ProcessClock(timeline, this.#clock.behind, this.#clock.wallError);
    this.#clock = clock;
    const use = store.use({ clock, edge: (where) => this.#edge(where) });
    this.#use = use;
    trace.write('start', number);
    const onVerdict = (kind: string, accountId: string, vendorid: number): void => {
      this.verdicts.set(kind, (this.verdicts.get(kind) ?? 0) + 1);
      if (kind === 'guarded') this.meetings.guarded(accountId, vendorid);
    };
    startDaemon({
      plan,
      settings: use.settings,
      number,
      clock,
      fetch: network.fetchFor(number, clock),
      onNamed: (name) => {
        if (clock.alive) this.#name = name;
      },
      onRun: (report) => onRun(report, number),
      onVerdict,
      meetings: this.meetings,
    }).then(
      (daemon) => {
        use.started();
        if (clock.alive) this.daemon = daemon;
      },
      () => {
        use.started();
        if (!clock.alive) return;
        this.counts.failedStarts += 1;
        this.#endProcess();
        timeline.timer(startAgainAfter, () => this.start());
      },
    );
  }

  /** Whether the process of that name is there, also where it hangs or is about to end. */
  lives(name: string): boolean {
    return this.#name === name;
  }

  /** Somebody sets the wall clock. */
  shiftWall(ms: number): void {
    this.#options.onClockSet();
    if (ms < 0) this.meetings.setBack();
    this.#clock.shiftWall(ms);
  }

  /** The process dies, at the moment or at one of its next transactions. */
  crash(afterEdges: number): void {
    if (afterEdges > 0) this.#edgesLeft = afterEdges;
    else this.#kill();
  }

  /** A connection of the process is cut at one of its next transactions. */
  cut(afterEdges: number): void {
    this.#edgesToCut = afterEdges;
  }

  /** A signal ends the process; it is started again when it is done. */
  restart(): void {
    const { daemon } = this;
    if (!daemon) return;
    const { trace, timeline } = this.#options;
    this.daemon = undefined;
    this.meetings.close();
    this.counts.restarts += 1;
    trace.write('stop', daemon.number);
    this.#options.onDown();
    void daemon.stop().then(() => {
      if (!daemon.clock.alive) return;
      this.#endProcess();
      timeline.timer(1_000, () => this.start());
    });
  }

  /** No more troubles: what was planned and has not come does not come. */
  endFaults(): void {
    this.#edgesLeft = this.#edgesToCut = undefined;
    const { store } = this.#options;
    store.lockedUntil = store.fullUntil = 0;
  }

  /** Ends everything, at once. */
  close(): void {
    this.#isClosed = true;
    if (this.#clock.alive) this.#endProcess();
  }

  #edge(where: Edge): Fate {
    if (this.#edgesLeft !== undefined && --this.#edgesLeft <= 0) {
      this.counts[where] += 1;
      this.#kill();
      return 'dies';
    }
    if (where === 'afterCommit') this.#options.onCommit();
    if (this.#edgesToCut === undefined || --this.#edgesToCut > 0) return 'goes on';
    this.#edgesToCut = undefined;
    this.counts.cuts += 1;
    this.#options.trace.write('cut', where);
    return 'is cut off';
  }

  #kill(): void {
    this.#edgesLeft = undefined;
    if (!this.#clock.alive) return;
    const { plan, timeline, network, trace } = this.#options;
    this.counts.crashes += 1;
    if (network.handshaking > 0) this.counts.insideHandshake += 1;
    trace.write('crash');
    this.#endProcess();
    if (plan.crashOf === 'machine') this.#clock.reboot();
    timeline.timer(plan.downtime * 1_000, () => this.start());
  }

  /** Nothing of the old process reaches the files any more. */
  #endProcess(): void {
    this.daemon = this.#name = undefined;
    this.meetings.close();
    this.#clock.end();
    this.#use?.end();
    this.#options.onDown();
  }
}
