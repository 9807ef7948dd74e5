/**
 * What is remembered of an account's lists: states besides 0 whose vendors they show, how many more vendors the service counts than it shows,
 * and which absences wait for more. What is learned, and when, says `domain/presence.ts`.
 */
import { sql } from 'kysely';
import { nextPresence } from '../domain/presence.ts';
import type { Database } from './sql/database.ts';
import type { ShownStateTable } from './sql/schema.ts';
import { mirrorSql, statement, Operations } from './sql/statement.ts';

/** A `vis_state`; null for vendors without one. */
type State = number | null;

const noState = -1;

/** A suspect whose first proof was a list that does not show its state. */
const withdrawn = nextPresence({ presence: 'suspect', since: null }, { kind: 'withdrawn' }, 0);

/** By the default list, or by the list of one state alone. */
export type ShownBy = ShownStateTable['shown_by'];

/** What is remembered of the last complete sweep. */
export interface SweepMemory {
  /** How many more vendors the service counted than it showed, when no vendor was in doubt; null before that was seen. */
  readonly shortfall: number | null;
  /** Vendors whose absence is not concluded, because the token may see less than before. */
  readonly withheld: number;
  /** Absent vendors that an earlier version called so by less than is required now. */
  readonly unproven: number;
}

type Remembered = Record<'withheld_absences' | 'unproven_absences', number> & { shortfall: number | null };

interface StateCount {
  readonly vis_state: State;
  readonly vendors: number;
}

export class Listings extends Operations {
  readonly #database: Database;
  readonly #shown = statement(this.db)<{ account_id: string }, Pick<ShownStateTable, 'vis_state' | 'shown_by'>>`
    SELECT vis_state, shown_by FROM _shown_states WHERE account_id = ${'account_id'}`;
  readonly #learn = statement(this.db)<ShownStateTable>`
    INSERT INTO _shown_states (account_id, vis_state, shown_by) VALUES (${'account_id'}, ${'vis_state'}, ${'shown_by'})
    ON CONFLICT (account_id, vis_state) DO UPDATE SET shown_by = excluded.shown_by`;
  readonly #unlearn = statement(this.db)<Pick<ShownStateTable, 'account_id' | 'vis_state'>>`
    DELETE FROM _shown_states WHERE account_id = ${'account_id'} AND vis_state = ${'vis_state'}`;
  readonly #clear = statement<{ account_id: string; vis_state: number }>(this.db, (at) =>
    mirrorSql
      .updateTable('vendors')
      .set({ presence: withdrawn.presence, presence_ms: withdrawn.since })
      .where('account_id', '=', at('account_id'))
      .where('presence', '=', 'suspect')
      .where(sql<boolean>`coalesce(vis_state, ${noState}) = ${at('vis_state')}`),
  );
  readonly #states = statement(this.db)<{ account_id: string }, StateCount>`
    SELECT vis_state, count(*) AS vendors FROM vendors
    WHERE account_id = ${'account_id'} AND presence IN ('present', 'suspect') GROUP BY presence, vis_state`;
  readonly #unproven = statement(this.db)<{ account_id: string }, { vendors: number }>`
    SELECT count(*) AS vendors FROM vendors
    WHERE account_id = ${'account_id'} AND presence IN ('missing', 'gone') AND presence_ms IS NULL AND vis_state IS DISTINCT FROM 0`;
  readonly #filtersShow = statement(this.db)<{ account_id: string }, { filters_show: number }>`
    SELECT filters_show FROM _accounts WHERE account_id = ${'account_id'}`;
  readonly #noteFilters = statement(this.db)<{ account_id: string }>`
    UPDATE _accounts SET filters_show = 1 WHERE account_id = ${'account_id'}`;
  readonly #memory = statement(this.db)<{ account_id: string }, Remembered>`
    SELECT shortfall, withheld_absences, unproven_absences FROM _accounts WHERE account_id = ${'account_id'}`;
  readonly #remember = statement(this.db)<{ account_id: string } & Remembered>`
    UPDATE _accounts SET shortfall = ${'shortfall'}, withheld_absences = ${'withheld_absences'},
      unproven_absences = ${'unproven_absences'} WHERE account_id = ${'account_id'}`;

  constructor(database: Database) {
    super(database.connection);
    this.#database = database;
  }

  /** The states besides 0 whose vendors lists show. */
  shownStates(accountId: string): Promise<ReadonlyMap<State, ShownBy>> {
    return this.#database.read(
      async () =>
        new Map(
          (await this.#shown.all({ account_id: accountId })).map(({ vis_state, shown_by }) => [
            vis_state === noState ? null : vis_state,
            shown_by,
          ]),
        ),
    );
  }

  /** Records that lists show the vendors of a state. */
  learnShown(accountId: string, state: State, shown_by: ShownBy): Promise<void> {
    return this.#database.write(() => {
      this.#learn.send({ account_id: accountId, vis_state: state ?? noState, shown_by });
    });
  }

  /** Records that lists do not show all vendors of a state: that one of them was not listed proves nothing. */
  unlearnShown(accountId: string, state: State): Promise<void> {
    return this.#database.write(() => {
      const key = { account_id: accountId, vis_state: state ?? noState };
      this.#unlearn.send(key);
      this.#clear.send(key);
    });
  }

  /**
   * Whether lists of single states show vendors that the default list does not: then only a sweep of all of them lists every vendor.
   * @param shownNow whether a sweep has just seen that; it is remembered
   */
  async filtersShow(account_id: string, shownNow: boolean): Promise<boolean> {
    const isKnown =
      (await this.#database.read(async () => (await this.#filtersShow.get({ account_id }))?.filters_show)) === 1;
    if (shownNow && !isKnown) await this.#database.write(() => this.#noteFilters.send({ account_id }));
    return shownNow || isKnown;
  }

  /** How many vendors of each state are not absent. */
  async statesOf(accountId: string): Promise<ReadonlyMap<State, number>> {
    const counts = new Map<State, number>();
    const found = await this.#database.read(() => this.#states.all({ account_id: accountId }));
    for (const { vis_state, vendors } of found) counts.set(vis_state, (counts.get(vis_state) ?? 0) + vendors);
    return counts;
  }

  memory(accountId: string): Promise<SweepMemory> {
    return this.#database.read(async () => {
      const found = await this.#memory.get({ account_id: accountId });
      const { shortfall = null, withheld_absences: withheld = 0, unproven_absences: unproven = 0 } = found ?? {};
      return { shortfall, withheld, unproven };
    });
  }

  /** Records what a complete sweep showed; nothing where nothing changed. */
  async remember(accountId: string, { shortfall, withheld }: Omit<SweepMemory, 'unproven'>): Promise<void> {
    const before = await this.memory(accountId);
    const isKnown = shortfall === before.shortfall && withheld === before.withheld;
    if (isKnown && before.unproven === 0) return;
    await this.#database.write(async () => {
      const unproven_absences = (await this.#unproven.get({ account_id: accountId }))?.vendors ?? 0;
      this.#remember.send({ account_id: accountId, shortfall, withheld_absences: withheld, unproven_absences });
    });
  }
}
