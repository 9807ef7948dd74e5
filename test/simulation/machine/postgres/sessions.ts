/**
 * The sessions of a world's processes at its server. One of them speaks at a time: it sends all that it was asked, and nothing else goes on
 * until it is answered. Which one is next, the seed says, so that transactions of several processes meet in each order, and a seed meets the
 * same one again. A transaction that would wait for the writers' lock of another one is not sent before that has ended.
 *
 * At the edges of a transaction its process may die, or its connection be cut, on either side of COMMIT.
 *
 * A program asks most things again before anything has changed, and only these sessions change a schema. So a transaction that reads is
 * answered from memory while the server would answer as it did before, and begins at the server with the first question that it was not asked
 * before. What it was answered is one state of the schema: where it has not begun at the server, nobody commits there before it ends.
 */
import { once } from 'node:events';
import type pg from 'pg';
import type { SeededRandom } from '../../../../src/sandbox/core/random.ts';
import { turn, type Timeline } from '../timeline.ts';
import type { Edge, StoreUser } from '../world-store.ts';
import type { Asked, Connected } from '../../../support/postgres-tap.ts';

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

/** The server may answer these otherwise although no transaction has changed anything that counts. */
const everNew = /\bsimulation\.|\bpg_|\b_processes\b/;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** One schema, and what the server said of it since it changed last. */
class Schema {
  /** Rises with each transaction that may have changed something. */
  version = 0;
  readonly #answers = new Map<string, pg.QueryResult>();

  changed(): void {
    this.version += 1;
    this.#answers.clear();
  }

  /** @param since the version that was asked */
  learn(asked: Asked, answer: pg.QueryResult, since: number): void {
    if (since === this.version && !everNew.test(asked.text)) this.#answers.set(keyOf(asked), answer);
  }

  answerTo(asked: Asked): pg.QueryResult | undefined {
    const known = this.#answers.get(keyOf(asked));
    // Whoever asks may change the rows that they get.
    return known && { ...known, rows: known.rows.map((row: object) => ({ ...row })) };
  }
}

const keyOf = ({ text, values }: Asked): string => (values ? text + JSON.stringify(values) : text);

export class Sessions {
  /** Processes that are about to start. */
  starting = 0;
  readonly #open = new Set<Session>();
  readonly #schemas = new Map<string, Schema>();
  readonly #random: SeededRandom;
  #speaking: Promise<void> | undefined;
  /** Of sessions that speak, also those that are no longer waited for: until they are answered. */
  readonly #unanswered = new Set<Promise<void>>();
  #isPlanned = false;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  schema(name: string): Schema {
    const schema = this.#schemas.get(name) ?? new Schema();
    this.#schemas.set(name, schema);
    return schema;
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
      const shown = new Set([...this.#open].map((session) => session.shown));
      const ready = [...this.#open].filter((session) => session.isReady(locks, shown));
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
  #schema: Schema | undefined;
  /** Its BEGIN, while all that it asked since was answered from memory. */
  #unsent: (() => Promise<unknown>) | undefined;
  #isShown = false;
  /** The version of the schema that it reads. */
  #since = 0;
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

  /** The schema that it is shown from memory. */
  get shown(): Schema | undefined {
    return this.#unsent && this.#isShown ? this.#schema : undefined;
  }

  /** @param locks who has which writers' lock @param shown schemas that somebody is shown from memory */
  isReady(locks: ReadonlyMap<string | undefined, Session>, shown: ReadonlySet<Schema | undefined>): boolean {
    if (this.#isSpeaking || !this.isWaiting) return false;
    const { text } = this.#jobs[0]!.asked;
    if (text === 'COMMIT' && this.#changes && shown.has(this.#schema)) return false;
    const wanted = writersLockIn(text);
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
    const { stream } = this.#options.client.connection;
    // All of it leaves at once.
    stream.cork();
    const carriedOut = this.#jobs.splice(0, this.#untilNextBegin()).map(async (job) => {
      try {
        const answer = await this.#carriedOut(job);
        return () => job.resolve(answer);
      } catch (error) {
        return () => job.reject(error);
      }
    });
    stream.uncork();
    const handing = await Promise.all(carriedOut);
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
    this.#options.client.connection.stream.destroy();
    this.#end();
  }

  #end(): void {
    this.lock = this.#unsent = undefined;
    this.#hasEnded = true;
    // Its COMMIT may be under way.
    if (this.#changes) this.#schema?.changed();
    this.#changes = false;
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

  #begins(text: string): void {
    this.#schema = this.#options.all.schema(/ search_path TO "([^"]+)"/.exec(text)?.[1] ?? '');
    this.#isWriting = !text.includes('READ ONLY');
    this.#changes = this.#isShown = false;
    this.#since = this.#schema.version;
  }

  /** What a transaction that reads is answered without the server; where that has to be asked, the transaction begins there first. */
  #fromMemory({ asked, send }: Pick<Job, 'asked' | 'send'>): unknown {
    if (asked.text.startsWith('BEGIN')) {
      // A connection that is new is told about itself.
      if (asked.text.includes('pg_backend_pid')) return undefined;
      this.#unsent = () => send(asked);
      return [];
    }
    const begin = this.#unsent;
    if (!begin) return undefined;
    const known = isEnd(asked.text) ? {} : this.#schema?.answerTo(asked);
    if (known) {
      this.#isShown = true;
      if (isEnd(asked.text)) this.#unsent = undefined;
      return known;
    }
    this.#unsent = undefined;
    this.#since = this.#schema?.version ?? 0;
    // If it fails, so does what is asked behind it.
    begin().catch(() => undefined);
    return undefined;
  }

  /** Begins at once. */
  async #carriedOut({ asked, send }: Job): Promise<unknown> {
    const { text } = asked;
    const [isBegin, isCommit] = [text.startsWith('BEGIN'), text === 'COMMIT'];
    if (isBegin) this.#begins(text);
    else if (this.#isWriting && !/^\s*select\b|^COMMIT$|\b_processes\b/i.test(text)) this.#changes = true;
    const isEdge = this.#isWriting && (isBegin || isCommit);
    if (isEdge) this.#comeTo('beforeCommit');
    const known = this.#isWriting ? undefined : this.#fromMemory({ asked, send });
    if (known) return known;
    const { troubles, timeline } = this.#options;
    if (isCommit && this.#isWriting && timeline.now < troubles.fullUntil) {
      await send({ text: 'ROLLBACK' });
      this.lock = undefined;
      throw coded('could not extend file: No space left on device', '53100');
    }
    const answer = await send(asked);
    if (isBegin) this.lock = writersLockIn(text);
    if (!isEnd(text)) {
      if (!isBegin && !this.#isWriting) this.#schema?.learn(asked, answer as pg.QueryResult, this.#since);
      return answer;
    }
    this.lock = undefined;
    if (this.#changes) this.#schema?.changed();
    this.#changes = false;
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

function isEnd(text: string): boolean {
  return text === 'COMMIT' || text === 'ROLLBACK';
}

/** An error as the driver throws it. */
function coded(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

function terminated(): Error {
  return new Error('Connection terminated unexpectedly');
}
