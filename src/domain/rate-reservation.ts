/** The rate limit that all processes of a mirror share, also across restarts: each request reserves a place before it is sent. */
import type { ReadStamp } from './reading.ts';

/** The limit that a request counts against, and how much of it may be used. */
export interface RateDemand {
  readonly accountId: string;
  /** Groups of paths that the service limits separately. */
  readonly family: 'accounting' | 'events';
  /** At most this many requests within any `per` milliseconds. */
  readonly requests: number;
  readonly per: number;
  /** The longest time that the request can take, in milliseconds. */
  readonly longest: number;
}

/** A reserved place. It counts until `per` milliseconds after the service may last have seen the request. */
export interface Reservation {
  readonly stamp: ReadStamp;
  /** The request has ended. `late` is how many more milliseconds it may still take to reach the service. */
  end(late: number): void;
}

/** A reservation, or the milliseconds after which to try again. */
export type ReservationOrWait = Reservation | { readonly wait: number };

/** Reserves a place for a request. */
export type ReserveRequest = (demand: RateDemand) => Promise<ReservationOrWait>;
