/** One limit on requests for all processes of a mirror, carried over their ends: every request takes a turn before it leaves. */
import type { ReadStamp } from './reading.ts';

/** Which limit a request is under, and how much of it may be used. */
export interface RateDemand {
  readonly accountId: string;
  /** The families of paths that the service counts apart. */
  readonly family: 'accounting' | 'events';
  /** So many requests at most in any stretch of `per` milliseconds. */
  readonly requests: number;
  readonly per: number;
  /** The longest that the request can be under way, in milliseconds. */
  readonly longest: number;
}

/** A turn that was taken. It counts until `per` milliseconds after the last moment at which the service may see its request. */
export interface Reservation {
  readonly stamp: ReadStamp;
  /** The answer has come, or nobody waits for it any more: then the request may reach the service for another `late` milliseconds. */
  end(late: number): Promise<void>;
}

/** A turn, or in how many milliseconds to ask for it again. */
export type ReservationOrWait = Reservation | { readonly wait: number };

/** Takes a turn. */
export type ReserveRequest = (demand: RateDemand) => Promise<ReservationOrWait>;
