/**
 * What an account's callbacks live on: the path token in their address, the codes that came for them, and the keys of signatures that
 * those became.
 *
 * A code is a candidate until the service has said that it is right; then it is proven. The proven one before it stays usable for a
 * day, because deliveries signed with it may still be on their way.
 */
import { timestamp, type Clock, type Random } from '../../domain/clock.ts';
import { Secret } from '../../domain/log.ts';
import { awaitedCodes } from './awaited-codes.ts';
import { answerSoon, type Database } from '../sqlite/database.ts';
import { pathTokens } from './path-tokens.ts';
import { verifierRows } from './verifier-rows.ts';

/** What became of a code that came. */
export type CodeFate = 'kept' | 'known' | 'not_awaited' | 'full';

export interface Verifiers {
  pathToken(accountId: string): Promise<Secret>;
  /** The same of many accounts; those that have none get theirs in one commit. */
  pathTokens(accountIds: readonly string[]): Promise<ReadonlyMap<string, Secret>>;
  /** The keys that a genuine signature may have now. Candidates are none: anybody may have sent them. */
  usable(accountId: string): Promise<Secret[]>;
  /** Whether we hold the key of this callback, and asked for no other since: that one may be in force without our knowing it. */
  holds(accountId: string, callbackid: number): Promise<boolean>;

  /** Says, before the request leaves, that a code for this event will come; for which callback, if that is known yet. */
  expect(accountId: string, event: string, callbackid: number | null): Promise<void>;
  /** No code for this event is awaited any more. */
  expectNone(accountId: string, event: string): Promise<void>;
  /**
   * Keeps a code that came, if one is awaited for that callback; a resend may bring the one that is known already. Resolves once it is
   * on disk.
   */
  offer(accountId: string, code: Secret, callbackid: number | null): Promise<CodeFate>;
  /** Codes that came for this callback or for an unnamed one, the newest first. */
  candidates(accountId: string, callbackid: number): Promise<Secret[]>;
  /** The service said that the code is wrong. */
  drop(accountId: string, code: Secret): Promise<void>;
  /** The service said that the code is right: it is this callback's key now, and nothing is awaited for the event any more. */
  prove(accountId: string, event: string, callbackid: number, code: Secret): Promise<void>;
  /** The callback is no more: its key lasts another day, its codes are of no use. */
  retire(accountId: string, callbackid: number): Promise<void>;

  /** Writes down a registration that is about to leave; false where there were too many of this event within a day. */
  mayRegister(accountId: string, event: string): Promise<boolean>;
}

const day = 86_400_000;
const mostCandidates = 8;

export function verifierStore(database: Database, clock: Clock, random: Random): Verifiers {
  const { sqlite } = database;
  const pathToken = pathTokens(sqlite, random);
  const awaited = awaitedCodes(sqlite);
  const rows = verifierRows(sqlite);
  const secret = ({ verifier }: { verifier: string }): Secret => new Secret(verifier);

  const end = (account_id: string, callbackid: number): void => {
    const now = clock.now();
    rows.dropExpired.run({ now: timestamp(now) });
    rows.retire.run({ account_id, callbackid, expires_at: timestamp(lastUse(now)) });
    rows.dropCandidates.run({ account_id, callbackid });
    awaited.gone(account_id, callbackid);
  };

  return {
    pathToken: async (account_id) => {
      const known = await database.read(() => pathToken.find(account_id));
      return new Secret(known ?? (await database.write(() => pathToken.make(account_id))));
    },
    async pathTokens(accountIds) {
      const known = await database.read(() => accountIds.map((id) => [id, pathToken.find(id)] as const));
      const missing = known.flatMap(([id, token]) => (token === undefined ? [id] : []));
      const made = missing.length === 0 ? [] : await database.write(() => missing.map((id) => pathToken.make(id)));
      const tokens = new Map(known.map(([id, token]) => [id, new Secret(token ?? '')]));
      for (const [index, id] of missing.entries()) tokens.set(id, new Secret(made[index] ?? ''));
      return tokens;
    },
    // Asked for each delivery, and one statement needs no transaction to be consistent.
    usable: (account_id) =>
      database.patiently(() => rows.usable.all({ account_id, now: timestamp(clock.now()) }).map(secret)),
    holds: (account_id, callbackid) =>
      database.read(
        () => rows.proven.get({ account_id, callbackid }) !== undefined && !awaited.names(account_id, callbackid),
      ),

    expect: (account_id, event, callbackid) =>
      database.write(() => awaited.expect({ account_id, event, callbackid }, clock.now())),
    expectNone: (account_id, event) => database.write(() => awaited.arrived({ account_id, event })),
    offer: (account_id, code, callbackid) =>
      database.write(() => {
        const verifier = code.reveal();
        const received_at = timestamp(clock.now());
        const known = rows.find.get({ account_id, verifier });
        if (!awaited.has(account_id, callbackid)) return known ? 'known' : 'not_awaited';
        if (known) {
          rows.comeAgain.run({ account_id, verifier, callbackid, received_at });
          return known.state === 'candidate' ? 'known' : 'kept';
        }
        if (rows.candidates.all({ account_id }).length >= mostCandidates) return 'full';
        rows.add.run({ account_id, verifier, callbackid, received_at });
        return 'kept';
      }, answerSoon),
    candidates: (account_id, callbackid) =>
      database.read(() =>
        rows.candidates
          .all({ account_id })
          .filter((code) => code.callbackid === null || code.callbackid === callbackid)
          .map(secret),
      ),
    drop: (account_id, code) =>
      database.write(() => {
        const wrong = { account_id, verifier: code.reveal() };
        rows.drop.run(wrong);
        rows.tried.run(wrong);
      }),
    prove: (account_id, event, callbackid, code) =>
      database.write(() => {
        end(account_id, callbackid);
        rows.raise.run({ account_id, callbackid, verifier: code.reveal(), received_at: timestamp(clock.now()) });
        awaited.arrived({ account_id, event });
      }),
    retire: (account_id, callbackid) => database.write(() => end(account_id, callbackid)),

    mayRegister: (account_id, event) => database.write(() => awaited.register({ account_id, event }, clock.now())),
  };
}

/** Until when a key is usable that was retired at that moment: deliveries signed with it may still be on their way. */
export function lastUse(retired: number): number {
  return retired + day;
}
