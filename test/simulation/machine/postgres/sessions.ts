/**
 * The sessions of a world's processes at its server. One of them speaks at a time: it sends all that it was asked, and nothing else goes on
 * until it is answered. Which one is next, the seed says, so that transactions of several processes meet in each order, and a seed meets the
 * same one again. A transaction that would wait for the writers' lock of another one is not sent before that has ended.
 *
 * At the edges of a transaction its process may die, or its connection be cut, on either side of COMMIT.
 */
import { once } from 'node:events';
import type pg from 'pg';
import type { SeededRandom } from '../../../../src/sandbox/core/random.ts';
import { turn, type Timeline } from '../timeline.ts';
import type { Edge, StoreUser } from '../world-store.ts';
import type { Asked, Connected } from './client-tap.ts';

/** What is wrong with the server: moments in milliseconds of the timeline. */
export interface ServerTroubles {
  readonly lockedUntil: number;
  readonly fullUntil: number;
  readonly awayUntil: number;
}

/** A session that is not answered for so long waits for another one, in milliseconds of this machine. */
const waitsForAnother = 200;
/** A process that starts loads modules, which takes its time outside of the world; in milliseconds of this machine. */
const loading = 4;
/** A transaction that is open and asks nothing for so many turns waits for something else. */
const mostIdleTurns = 20_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class Sessions {
  /** Rises with each transaction that may have changed something. */
  version = 0;
  /** Processes that are about to start. */
  starting = 0;
  readonly #open = new Set<Session>();
  readonly #random: SeededRandom;
  #speaking: Promise<void> | undefined;
  /** Of sessions that speak, also those that are no longer waited for: until they are answered. */
  readonly #unanswered = new Set<Promise<void>>();
  #isPlanned = false;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  opened(options: Omit<SessionOptions, 'all'>): Session {
    const session = new Session({ ...options, all: this });
    this.#open.add(session);
    return session;
  }

  /** The connections of a process, or of all, end at once. */
  cut(of?: StoreUser): void {
    for (const session of [...this.#open]) if (of === undefined || session.user === of) session.destroy();
  }

  ended(session: Session): void {
    this.#open.delete(session);
    this.plan();
  }

  /** Lets one of those speak who have something to say, once all have said what they have to say now. */
  plan(): void {
    if (this.#isPlanned || this.#speaking) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      if (this.#speaking) return;
      const locks = new Map([...this.#open].map((session) => [session.lock, session]));
      const ready = [...this.#open].filter((session) => session.isReady(locks));
      if (ready.length === 0) return;
      const next = ready.length === 1 ? ready[0]! : this.#random.pick(ready);
      let timer: NodeJS.Timeout | undefined;
      const enough = new Promise<void>((resolve) => (timer = setTimeout(resolve, waitsForAnother)));
      const spoken = next.speak().finally(() => this.#unanswered.delete(spoken));
      this.#unanswered.add(spoken);
      this.#speaking = Promise.race([spoken, enough]).then(() => {
        clearTimeout(timer);
        this.#speaking = undefined;
        this.plan();
      });
    });
  }

  /**
   * Resolves when nothing is under way at the server, and nobody is about to ask.
   * @throws Error where a transaction waits for something else than its statements.
   */
  async settled(): Promise<void> {
    await turn();
    for (let idle = 0, hasLoaded = this.starting === 0; ;) {
      const sessions = [...this.#open];
      if (this.#speaking) await this.#speaking;
      else if (this.#unanswered.size > 0) await Promise.race(this.#unanswered);
      else if (this.#isPlanned || sessions.some((session) => session.isWaiting)) {
        idle += 1;
        if (idle > mostIdleTurns) throw new Error('A transaction waits for something else than its statements.');
        await turn();
        continue;
      } else if (hasLoaded) return;
      else {
        await pause(loading);
        hasLoaded = !this.#isBusy();
      }
      idle = 0;
    }
  }

  #isBusy(): boolean {
    return this.#isPlanned || this.#speaking !== undefined;
  }
}

interface SessionOptions {
  readonly client: pg.Client;
  readonly user: StoreUser;
  readonly troubles: ServerTroubles;
  /** A statement as this world's server understands it. */
  readonly translate: (text: string) => string;
  readonly timeline: Timeline;
  readonly all: Sessions;
}

type Send = (asked: Asked) => Promise<unknown>;

interface Job {
  /** Empty where it is to connect. */
  readonly asked: Asked;
  readonly send: Send;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class Session implements Connected {
  /** The writers' lock that its transaction has. */
  lock: string | undefined;
  #isSpeaking = false;
  readonly #options: SessionOptions;
  readonly #jobs: Job[] = [];
  #isWriting = false;
  /** Whether its transaction may change what oracles look at; that a process is there, none of them asks. */
  #changes = false;
  /** Waits for a moment of the timeline. */
  #isAsleep = false;
  #hasEnded = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    options.client.on('end', () => this.#end());
  }

  get user(): StoreUser {
    return this.#options.user;
  }

  /** Whether it has something to say, and waits for nothing but others. */
  get isWaiting(): boolean {
    return this.#jobs.length > 0 && !this.#isAsleep;
  }

  /** @param locks who has which writers' lock */
  isReady(locks: ReadonlyMap<string | undefined, Session>): boolean {
    if (this.#isSpeaking || !this.isWaiting) return false;
    const wanted = writersLockIn(this.#jobs[0]!.asked.text);
    return wanted === undefined || (locks.get(wanted) ?? this) === this;
  }

  connect(connect: () => Promise<unknown>): Promise<unknown> {
    const { troubles, timeline } = this.#options;
    return this.#later({ text: '' }, () => {
      if (timeline.now < troubles.awayUntil) throw coded('connect ECONNREFUSED', 'ECONNREFUSED');
      return connect();
    });
  }

  query(asked: Asked, send: Send): Promise<unknown> {
    if (this.#hasEnded && this.user.clock.alive) return send(asked);
    return this.#later({ ...asked, text: this.#options.translate(asked.text) }, send);
  }

  /** Says all that it was asked by now, and hands on what it was answered. */
  async speak(): Promise<void> {
    if (this.#fallsAsleep()) return;
    this.#isSpeaking = true;
    const handing = await Promise.all(
      this.#jobs.splice(0, this.#untilNextBegin()).map(async (job) => {
        try {
          const answer = await this.#carriedOut(job);
          return () => job.resolve(answer);
        } catch (error) {
          return () => job.reject(error);
        }
      }),
    );
    this.#isSpeaking = false;
    // What it waits for, a dead process never gets.
    if (this.user.clock.alive) for (const hand of handing) hand();
    this.#options.all.plan();
  }

  /** How many jobs come before the next transaction, which may have to wait for another session's. */
  #untilNextBegin(): number {
    const next = this.#jobs.findIndex(({ asked }, nth) => nth > 0 && asked.text.startsWith('BEGIN'));
    return next === -1 ? this.#jobs.length : next;
  }

  /** The connection is cut; the server undoes what is not committed. */
  destroy(): void {
    const { connection } = this.#options.client as unknown as { readonly connection: { stream: { destroy(): void } } };
    connection.stream.destroy();
    this.#end();
  }

  #end(): void {
    this.lock = undefined;
    this.#hasEnded = true;
    const left = this.#jobs.splice(0);
    if (this.user.clock.alive) for (const { reject } of left) reject(terminated());
    this.#options.all.ended(this);
  }

  #later(asked: Asked, send: Send): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!this.user.clock.alive) return;
      this.#jobs.push({ asked, send, resolve, reject });
      this.#options.all.plan();
    });
  }

  /** Where somebody else holds the writers' lock for long, whoever wants it waits in virtual time, as long as they said. */
  #fallsAsleep(): boolean {
    const { troubles, timeline, all } = this.#options;
    const { asked, reject } = this.#jobs[0]!;
    if (timeline.now >= troubles.lockedUntil || writersLockIn(asked.text) === undefined) return false;
    const patience = Number(/SET LOCAL lock_timeout TO (\d+)/.exec(asked.text)?.[1]);
    this.#isAsleep = true;
    timeline.timer(Math.min(patience, troubles.lockedUntil - timeline.now), () => {
      this.#isAsleep = false;
      if (timeline.now < troubles.lockedUntil && this.#jobs.length > 0) {
        const [, ...behind] = this.#jobs.splice(0, this.#untilNextBegin());
        if (this.user.clock.alive) reject(coded('canceling statement due to lock timeout', '55P03'));
        for (const job of behind)
          if (this.user.clock.alive) job.reject(coded('current transaction is aborted', '25P02'));
      }
      all.plan();
    });
    return true;
  }

  /** Begins at once. */
  async #carriedOut({ asked, send }: Job): Promise<unknown> {
    const { text } = asked;
    const [isBegin, isCommit] = [text.startsWith('BEGIN'), text === 'COMMIT'];
    if (isBegin) {
      this.#isWriting = !text.includes('READ ONLY');
      this.#changes = false;
    } else if (!/^\s*select\b|^COMMIT$|\b_processes\b/i.test(text)) this.#changes = true;
    const isEdge = this.#isWriting && (isBegin || isCommit);
    if (isEdge) this.#comeTo('beforeCommit');
    const { troubles, timeline, all } = this.#options;
    if (isCommit && this.#isWriting && timeline.now < troubles.fullUntil) {
      await send({ text: 'ROLLBACK' });
      this.lock = undefined;
      throw coded('could not extend file: No space left on device', '53100');
    }
    const answer = await send(asked);
    if (isBegin) this.lock = writersLockIn(text);
    if (!isCommit && text !== 'ROLLBACK') return answer;
    this.lock = undefined;
    if (this.#changes) all.version += 1;
    if (isEdge && this.#comeTo('afterCommit')) {
      // The driver hears of it before whoever waits for the answer.
      if (this.user.clock.alive) await once(this.#options.client, 'end');
      throw terminated();
    }
    return answer;
  }

  /** @returns whether its process died there, or the connection was cut. */
  #comeTo(edge: Edge): boolean {
    const fate = this.user.edge(edge);
    if (fate === 'is cut off') this.destroy();
    return fate !== 'goes on';
  }
}

/** The name of the writers' lock that a transaction takes first. */
function writersLockIn(text: string): string | undefined {
  return /hashtextextended\('(vendor-mirror writes [^']+)'/.exec(text)?.[1];
}

/** An error as the driver throws it. */
function coded(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

function terminated(): Error {
  return new Error('Connection terminated unexpectedly');
}
