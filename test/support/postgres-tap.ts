/**
 * Stands between the driver and the server, for every connection of the processes of a world, from outside of the program. A connection
 * belongs to a process by the name of the database that its settings give; the server hears the true one.
 */
import pg from 'pg';

/** What a process asks of its connection. */
export interface Asked {
  readonly text: string;
  readonly name?: string;
  readonly values?: unknown[];
}

/** What a world does for the connections of one process. */
export interface Tap {
  readonly database: string;
  /** A connection that was not seen before. */
  opened(client: pg.Client): Connected;
}

export interface Connected {
  /** @param connect connects to the server */
  connect(connect: () => Promise<unknown>): Promise<unknown>;
  /** @param send asks the server */
  query(asked: Asked, send: (asked: Asked) => Promise<pg.QueryResult>): Promise<unknown>;
}

const taps = new Map<string, Tap>();
const seen = new WeakMap<pg.Client, Connected>();

/** Taps all connections whose settings name this database. */
export function tapInto(name: string, tap: Tap): () => void {
  taps.set(name, tap);
  return () => taps.delete(name);
}

interface Methods {
  connect: (this: pg.Client, ...more: unknown[]) => unknown;
  query: (this: pg.Client, asked: string | Asked, ...more: unknown[]) => unknown;
}

/* The driver's methods are replaced once for the whole process; connections of no simulated process pass through unchanged. */
const prototype = pg.Client.prototype as unknown as Methods;
const { connect, query } = prototype;

prototype.connect = function (...more) {
  const tap = taps.get(this.database ?? '');
  if (!tap) return connect.apply(this, more);
  const { connectionParameters } = this as unknown as { readonly connectionParameters: { database: string } };
  connectionParameters.database = tap.database;
  const connected = tap.opened(this);
  seen.set(this, connected);
  return connected.connect(() => connect.call(this) as Promise<unknown>);
};

prototype.query = function (asked, ...more) {
  const connected = seen.get(this);
  if (!connected) return query.call(this, asked, ...more);
  const [values] = more as [unknown[] | undefined];
  const whole = typeof asked === 'string' ? { text: asked, ...(values && { values }) } : asked;
  return connected.query(whole, (sent) => query.call(this, sent) as Promise<pg.QueryResult>);
};

/** A statement of the program, which then takes these moments for the server's time and for when the server was started; milliseconds since 1970. */
export function atMoment(text: string, { now, started }: { readonly now: number; readonly started: number }): string {
  const here = text
    .replaceAll('clock_timestamp()', `CAST(current_setting('simulation.now') AS timestamptz)`)
    .replaceAll('pg_postmaster_start_time()', `current_setting('simulation.started')`);
  if (!here.startsWith('BEGIN')) return here;
  const [time, start] = [now, started].map((moment) => new Date(moment).toISOString());
  const told = `SET LOCAL simulation.now TO '${time}'; SET LOCAL simulation.started TO '${start}'`;
  return here.replace("SET LOCAL TimeZone TO 'UTC'", `SET LOCAL TimeZone TO 'UTC'; ${told}`);
}
