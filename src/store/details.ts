/**
 * Fields that lists leave out and reads by id carry ("details"): which they are, by account, and which vendors are to be read for them.
 * One that lists show otherwise than reads by id do, without an edit (no balance, a masked number, a note that is cut), is left out too: what
 * lists show of it is never applied. Where only few vendors have it, that holds for those alone.
 *
 * A vendor is a witness of a field where a read by id carries it, the list row before did not, and nothing was edited in between: `updated_at`
 * is the same in both, or, where lists leave that out too, all that the row carried. Two witnesses make it a detail, or one among enough vendors
 * that were asked. The list row of a witness that carries the field takes that back: lists may carry it for some vendors only.
 *
 * Which vendors show a field otherwise, a run finds out (`sync/details.ts`): enough of them make it a detail (`learned_at`), and fewer stand in
 * its row alone. There the list row of a witness takes that back when it shows the value that is stored.
 *
 * While there are details, `vendors.detail_seq` orders the vendors: 0 for one that is new or whose listed row changed, otherwise the number of
 * its last read by id, successful or not; `details_at` says when it last succeeded.
 */
import { sql } from 'kysely';
import { timestamp, type Clock } from '../domain/clock.ts';
import { Turns } from '../domain/concurrency.ts';
import type { VendorRow } from '../domain/reading.ts';
import type { Finding, Findings } from './findings.ts';
import type { Run } from './runs.ts';
import type { UnsteadyFields } from './unsteady-fields.ts';
import { Transacted, type Database } from './sql/database.ts';
import { ofVendor, mirrorSql, statement, numbersIn, Operations } from './sql/statement.ts';
import type { VendorKey, VendorTable } from './sql/schema.ts';
import { holdsValue } from './vendors.ts';

/** How many vendors must show that lists leave a field out, before many were asked. */
const witnesses = 2;

/** How many are kept of a field that lists show otherwise: the value of one may become what lists show of all. */
const keptWitnesses = 8;

/** So many listed vendors that were read by id, or all, show whether lists leave anything out. */
export const enoughProbed = 200;

/** How often every vendor is read by id, in milliseconds; where vendors are many, less often. */
const everyVendor = 86_400_000;

/** Rows of one transaction: deliveries wait for its end. */
const chunk = 500;

interface OfAccount {
  readonly account_id: string;
}
type Shown = Pick<VendorTable, 'raw' | 'updated_at' | 'source'>;

/** Fields that lists show otherwise than reads by id do. */
interface ShownOtherwise {
  /** Those that were learned, of all vendors. */
  readonly ofAll: readonly string[];
  /** Those of a vendor. */
  readonly of: (vendorid: number) => readonly string[];
}

/** The statements, for work inside a transaction. */
export class DetailRows extends Operations {
  readonly #fields = statement(this.db)<OfAccount, { field: string }>`
    SELECT field FROM _detail_fields
    WHERE account_id = ${'account_id'} AND learned_at IS NOT NULL
      AND (SELECT reads_details FROM _accounts a WHERE a.account_id = ${'account_id'}) = 1`;
  readonly #shown = statement(this.db)<OfAccount, { field: string; vendorids: string; is_learned: number }>`
    SELECT field, vendorids, CASE WHEN learned_at IS NULL THEN 0 ELSE 1 END AS is_learned FROM _detail_fields
    WHERE account_id = ${'account_id'} AND is_shown = 1`;
  readonly #witnesses = statement(this.db)<OfAccount & { field: string }, { vendorids: string }>`
    SELECT vendorids FROM _detail_fields
    WHERE account_id = ${'account_id'} AND field = ${'field'} AND (is_shown = 0 OR learned_at IS NOT NULL)`;
  readonly #stored = statement<VendorKey, { raw: string; details_at: string | null }>(this.db, (at) =>
    ofVendor(mirrorSql.selectFrom('vendors').select(['raw', sql<string | null>`details_at`.as('details_at')]), at),
  );
  readonly #note = statement(this.db)<
    OfAccount & { field: string; vendorids: string; learned_at: string | null; is_shown: number }
  >`
    INSERT INTO _detail_fields (account_id, field, vendorids, learned_at, is_shown)
    VALUES (${'account_id'}, ${'field'}, ${'vendorids'}, ${'learned_at'}, ${'is_shown'})
    ON CONFLICT (account_id, field) DO UPDATE SET vendorids = excluded.vendorids,
      learned_at = coalesce(_detail_fields.learned_at, excluded.learned_at),
      is_shown = max(_detail_fields.is_shown, excluded.is_shown)`;
  readonly #forget = statement(this.db)<OfAccount & { field: string }>`
    DELETE FROM _detail_fields
    WHERE account_id = ${'account_id'} AND field = ${'field'}`;
  readonly #stop = statement(this.db)<OfAccount>`
    UPDATE _accounts SET reads_details = 0
    WHERE account_id = ${'account_id'} AND NOT EXISTS (
      SELECT 1 FROM _detail_fields d WHERE d.account_id = _accounts.account_id AND d.learned_at IS NOT NULL)`;
  readonly #due = statement<VendorKey>(this.db, (at) =>
    ofVendor(
      mirrorSql
        .updateTable('vendors')
        .set({ detail_seq: 0, details_at: sql`coalesce(details_at, '1970-01-01 00:00:00.000')` }),
      at,
    ),
  );
  readonly #read = statement<VendorKey & { read_seq: number; at: string }>(this.db, (at) =>
    ofVendor(mirrorSql.updateTable('vendors').set({ detail_seq: at('read_seq'), details_at: at('at') }), at).where(
      sql<boolean>`coalesce(detail_seq, 0) < ${at('read_seq')}`,
    ),
  );
  /** Each reading adds to what those before it have shown. */
  readonly #learning = new Turns();

  /** Fields that lists leave out, once each vendor has its place in the order; none before. */
  async fields(account_id: string): Promise<string[]> {
    return (await this.#fields.all({ account_id })).map(({ field }) => field);
  }

  /** Those that lists show, but otherwise than reads by id do. */
  async shownOtherwise(account_id: string): Promise<ShownOtherwise> {
    const ofAll: string[] = [];
    const ofFew = new Map<number, string[]>();
    for (const { field, vendorids, is_learned } of await this.#shown.all({ account_id }))
      if (is_learned === 1) ofAll.push(field);
      else
        for (const vendorid of JSON.parse(vendorids) as number[])
          ofFew.set(vendorid, [...(ofFew.get(vendorid) ?? []), field]);
    return { ofAll, of: (vendorid) => [...ofAll, ...(ofFew.get(vendorid) ?? [])] };
  }

  /** Of which vendors alone lists show a field otherwise, by field. */
  async shownOfFew(account_id: string): Promise<ReadonlyMap<string, readonly number[]>> {
    const shown = (await this.#shown.all({ account_id })).filter(({ is_learned }) => is_learned === 0);
    return new Map(shown.map(({ field, vendorids }) => [field, JSON.parse(vendorids) as number[]]));
  }

  /** A list showed these vendors: where a field that lists show otherwise is as it is stored, its witness takes that back. */
  async showed(account_id: string, rows: readonly Pick<VendorRow, 'vendorid' | 'raw'>[]): Promise<void> {
    for (const { field, vendorids, is_learned } of await this.#shown.all({ account_id })) {
      const known = JSON.parse(vendorids) as number[];
      const equal = new Map<number, unknown>();
      for (const { vendorid, raw } of rows) {
        const stored = known.includes(vendorid) ? await this.#stored.get({ account_id, vendorid }) : undefined;
        // Until it is read by id, a vendor may hold what a list showed.
        if (!stored || (is_learned === 1 && (stored.details_at ?? '') < '1971')) continue;
        const value = membersOf(stored.raw)[field];
        if (JSON.stringify(membersOf(raw)[field]) === JSON.stringify(value)) equal.set(vendorid, value);
      }
      // A list that shows none of any vendor is right about those that have none.
      const isEmpty = [...equal.values()].every((value) => saysNothing(value) || value === '');
      if (equal.size === 0 || (is_learned === 1 && isEmpty)) continue;
      const others = known.filter((vendorid) => !equal.has(vendorid));
      this.#takeBack({ account_id, field }, others);
    }
  }

  /** Reads by id of these vendors alone show a field otherwise than lists do. */
  learnOfFew(account_id: string, field: string, vendorids: readonly number[]): void {
    this.#note.send({ account_id, field, vendorids: JSON.stringify(vendorids), learned_at: null, is_shown: 1 });
  }

  /** Reads by id of these vendors showed a field otherwise than lists do. */
  learnShown(account_id: string, field: string, vendorids: readonly number[], learned_at: string): void {
    this.#learn({ account_id, field, learned_at, is_shown: 1 }, vendorids);
  }

  /** Reads by id of these vendors showed a field that lists stopped to show. */
  learnLeftOut(account_id: string, field: string, vendorids: readonly number[], learned_at: string): void {
    this.#learn({ account_id, field, learned_at, is_shown: 0 }, vendorids);
  }

  #learn(
    learned: OfAccount & { field: string; learned_at: string; is_shown: 0 | 1 },
    vendorids: readonly number[],
  ): void {
    this.#note.send({ ...learned, vendorids: JSON.stringify(vendorids.slice(0, keptWitnesses)) });
  }

  #takeBack({ account_id, field }: OfAccount & { field: string }, others: readonly number[]): void {
    if (others.length > 0) {
      this.#note.send({ account_id, field, vendorids: JSON.stringify(others), learned_at: null, is_shown: 0 });
      return;
    }
    this.#forget.send({ account_id, field });
    this.#stop.send({ account_id });
  }

  /** A list showed these vendors, which are new, or otherwise than before: they are to be read by id. */
  async listed(
    account_id: string,
    rows: readonly Pick<VendorRow, 'vendorid' | 'raw'>[],
    fields: readonly string[],
  ): Promise<void> {
    const { ofAll: shown } = await this.shownOtherwise(account_id);
    const listed = rows.map(({ vendorid, raw }) => ({ vendorid, members: membersOf(raw) }));
    for (const field of fields) {
      const carrying = listed.filter(({ members }) => Object.hasOwn(members, field));
      if (carrying.length === 0 || shown.includes(field)) continue;
      const known = await this.#witnessesOf(account_id, field);
      const others = known.filter((id) => carrying.every(({ vendorid }) => vendorid !== id));
      if (others.length === 0 || others.length < known.length) this.#takeBack({ account_id, field }, others);
    }
    for (const { vendorid } of rows) this.#due.send({ account_id, vendorid });
  }

  /** A list answered a doubt about a vendor, but for the fields that it leaves out: the vendor is to be read by id. */
  doubted(key: VendorKey): void {
    this.#due.send(key);
  }

  /** A read by id, begun `at`, showed the vendor as it is stored now. */
  read({ account_id, vendorid }: VendorKey, read_seq: number, at: string): void {
    this.#read.send({ account_id, vendorid, read_seq, at });
  }

  /** Compares a read by id with what lists had shown of the vendor. */
  learn(key: VendorKey, before: Shown, raw: string, now: string): Promise<void> {
    return this.#learning.take(() => this.#learnFrom(key, before, raw, now));
  }

  async #learnFrom({ account_id, vendorid }: VendorKey, before: Shown, raw: string, now: string): Promise<void> {
    if (before.source !== 'pull' && before.source !== 'reconcile') return;
    const [listed, read] = [membersOf(before.raw), membersOf(raw)];
    const compared = Object.hasOwn(listed, 'updated_at') ? ['updated_at'] : Object.keys(listed);
    if (compared.some((field) => JSON.stringify(read[field]) !== JSON.stringify(listed[field]))) return;
    for (const [field, value] of Object.entries(read)) {
      // What says nothing changes nothing, so that the stored row need not have it although a list did.
      if (saysNothing(value) || Object.hasOwn(listed, field)) continue;
      const known = await this.#witnessesOf(account_id, field);
      if (known.includes(vendorid) || known.length >= witnesses) continue;
      const vendorids = [...known, vendorid];
      const learned_at = vendorids.length >= witnesses ? now : null;
      this.#note.send({ account_id, field, vendorids: JSON.stringify(vendorids), learned_at, is_shown: 0 });
    }
  }

  async #witnessesOf(account_id: string, field: string): Promise<number[]> {
    return JSON.parse((await this.#witnesses.get({ account_id, field }))?.vendorids ?? '[]') as number[];
  }
}

function saysNothing(value: unknown): boolean {
  return value == null || (Array.isArray(value) && value.length === 0);
}

function membersOf(raw: string): Record<string, unknown> {
  try {
    return JSON.parse(raw) as Record<string, unknown>;
  } catch {
    return {};
  }
}

interface ReadBefore {
  readonly vendorids: readonly number[];
  /** Before any of them was read, milliseconds since 1970. */
  readonly since: number;
}

/** Which vendors of an account are to be read by id for what lists leave out. */
export class Details extends Transacted {
  readonly #findings: Findings;
  readonly #unsteady: UnsteadyFields;
  readonly #rows: DetailRows;
  readonly #suspected = statement(this.db)<OfAccount, { count: number }>`
    SELECT count(*) AS count FROM _detail_fields WHERE account_id = ${'account_id'} AND is_shown = 0`;
  readonly #next = statement(this.db)<
    OfAccount & { limit: number; before: string; now: string },
    { vendorid: number; detail_seq: number }
  >`
    SELECT vendorid, detail_seq FROM vendors
    WHERE account_id = ${'account_id'} AND detail_seq IS NOT NULL AND presence IN ('present', 'suspect')
      AND (detail_seq = 0 OR details_at < ${'before'} OR details_at > ${'now'})
    ORDER BY detail_seq LIMIT +${'limit'}`;
  readonly #enrol = statement(this.db)<OfAccount & { after: number }, { last: number | null }>`
    SELECT max(vendorid) AS last FROM (
      SELECT vendorid FROM vendors WHERE account_id = ${'account_id'} AND vendorid > ${'after'}
      ORDER BY vendorid LIMIT ${chunk}) AS next`;
  readonly #enrolUpTo = statement(this.db)<OfAccount & { after: number; last: number }>`
    UPDATE vendors SET detail_seq = 0, details_at = '1970-01-01 00:00:00.000'
    WHERE account_id = ${'account_id'} AND vendorid > ${'after'} AND vendorid <= ${'last'}`;
  readonly #enrolOthers = statement(this.db)<OfAccount>`
    UPDATE vendors SET detail_seq = 0, details_at = '1970-01-01 00:00:00.000'
    WHERE account_id = ${'account_id'} AND detail_seq IS NULL`;
  readonly #begin = statement(this.db)<OfAccount>`
    UPDATE _accounts SET reads_details = 1 WHERE account_id = ${'account_id'}`;
  readonly #learned = statement(this.db)<OfAccount, { field: string }>`
    SELECT field FROM _detail_fields WHERE account_id = ${'account_id'} AND learned_at IS NOT NULL ORDER BY field`;
  readonly #placed = statement(this.db)<OfAccount>`
    SELECT 1 FROM vendors WHERE account_id = ${'account_id'} AND detail_seq IS NOT NULL LIMIT 1`;
  readonly #release = statement(this.db)<OfAccount>`
    UPDATE vendors SET detail_seq = NULL, details_at = NULL
    WHERE account_id = ${'account_id'} AND detail_seq IS NOT NULL`;
  readonly #probed = statement(this.db)<OfAccount, { probed: number }>`
    SELECT probed_vendors AS probed FROM _accounts WHERE account_id = ${'account_id'}`;
  // Lists show all active vendors; others not always.
  readonly #isProbed = statement(this.db)<OfAccount, { is_probed: number }>`
    SELECT CASE
      WHEN probed_vendors = 0 THEN 0
      WHEN probed_vendors >= (SELECT count(*) FROM (
        SELECT 1 FROM vendors v WHERE v.account_id = ${'account_id'} AND vis_state = 0 AND presence = 'present'
        LIMIT ${enoughProbed}) AS first) THEN 1
      ELSE 0 END AS is_probed
    FROM _accounts WHERE account_id = ${'account_id'}`;
  readonly #addProbed = statement(this.db)<OfAccount & { probed: number }>`
    UPDATE _accounts SET probed_vendors = probed_vendors + ${'probed'} WHERE account_id = ${'account_id'}`;
  readonly #learnSuspected = statement(this.db)<OfAccount & { learned_at: string }>`
    UPDATE _detail_fields SET learned_at = ${'learned_at'}
    WHERE account_id = ${'account_id'} AND learned_at IS NULL AND is_shown = 0`;
  readonly #readInVain = statement(this.db)<VendorKey & { read_seq: number }>`
    UPDATE vendors SET detail_seq = max(detail_seq, ${'read_seq'})
    WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'} AND detail_seq IS NOT NULL`;
  readonly #holding = statement<OfAccount & { vendorids: string; path: string }, { vendors: number }>(
    this.db,
    (at) => sql`
      SELECT count(*) AS vendors FROM vendors
      WHERE account_id = ${at('account_id')} AND vendorid IN ${numbersIn(at('vendorids'))}
        AND ${holdsValue(at('path'))}`,
  );
  readonly #holders = statement<OfAccount & { path: string; limit: number }, { vendorid: number }>(
    this.db,
    (at) => sql`
      SELECT vendorid FROM vendors
      WHERE account_id = ${at('account_id')} AND presence = 'present' AND vis_state = 0
        AND ${holdsValue(at('path'))}
      LIMIT +${at('limit')}`,
  );
  readonly #forgetUnsteady = statement(this.db)<OfAccount & { field: string }>`
    DELETE FROM _unsteady_fields WHERE account_id = ${'account_id'} AND field = ${'field'}`;

  constructor(
    database: Database,
    clock: Clock,
    { findings, unsteady }: { findings: Findings; unsteady: UnsteadyFields },
  ) {
    super(database, clock);
    const { connection: db } = database;
    this.#findings = findings;
    this.#unsteady = unsteady;
    this.#rows = new DetailRows(db);
  }

  /** How many of the vendors hold a value in a field. */
  holding(accountId: string, field: string, vendorids: readonly number[]): Promise<number> {
    const asked = { account_id: accountId, vendorids: JSON.stringify(vendorids), path: `$."${field}"` };
    return this.database.read(async () => (await this.#holding.get(asked))?.vendors ?? 0);
  }

  /** Of which vendors alone lists show a field otherwise, by field. */
  shownOfFew(accountId: string): Promise<ReadonlyMap<string, readonly number[]>> {
    return this.database.read(() => this.#rows.shownOfFew(accountId));
  }

  /** Lists show fields otherwise than reads by id of these vendors alone. */
  async learnOfFew(accountId: string, fields: ReadonlyMap<string, readonly number[]>): Promise<void> {
    await this.database.write(() => {
      for (const [field, vendorids] of fields) this.#rows.learnOfFew(accountId, field, vendorids);
    });
  }

  /** Two reads by id of each of these vendors, one right after the other, showed a field differently. */
  noteDiffering(run: Run, field: string, vendorids: readonly number[]): Promise<void> {
    return this.database.write(async () => {
      for (const vendorid of vendorids) await this.#unsteady.noteDiffering(run, field, vendorid);
    });
  }

  /** Lists show fields otherwise than reads by id did of these vendors. None of them is one that differs in every answer. */
  async learnShown(accountId: string, fields: ReadonlyMap<string, readonly number[]>): Promise<void> {
    const now = timestamp(this.clock.now());
    await this.database.write(() => {
      for (const [field, vendorids] of fields) {
        this.#rows.learnShown(accountId, field, vendorids, now);
        this.#forgetUnsteady.send({ account_id: accountId, field });
      }
    });
  }

  /** Listed vendors that hold a value in a field. */
  holders(accountId: string, field: string, limit: number): Promise<number[]> {
    const asked = { account_id: accountId, path: `$."${field}"`, limit };
    return this.database.read(async () => (await this.#holders.all(asked)).map(({ vendorid }) => vendorid));
  }

  /** Lists stopped to carry a field, and reads by id of these vendors carry it. */
  async learnLeftOut(accountId: string, field: string, vendorids: readonly number[]): Promise<void> {
    const now = timestamp(this.clock.now());
    await this.database.write(() => {
      this.#rows.learnLeftOut(accountId, field, vendorids, now);
      this.#findings.sentAfterAll(accountId, field, 'Reads by id show it.');
    });
  }

  /** Fields of an account that lists leave out, and whether each vendor has its place in the order in which they are read. */
  learned(accountId: string): Promise<{ readonly fields: readonly string[]; readonly isEnrolled: boolean }> {
    return this.database.read(async () => ({
      fields: (await this.#learned.all({ account_id: accountId })).map(({ field }) => field),
      isEnrolled: (await this.#rows.fields(accountId)).length > 0,
    }));
  }

  /** Whether a vendor showed that lists leave something out; too few may have. */
  async isSuspected(accountId: string): Promise<boolean> {
    return (
      (await this.database.read(async () => (await this.#suspected.get({ account_id: accountId }))?.count ?? 0)) > 0
    );
  }

  /** The vendors that were not read by id for a day, longest ago first, after those that are new or changed; `isDue` for the latter. */
  next(accountId: string, limit: number): Promise<{ vendorid: number; isDue: boolean }[]> {
    const now = this.clock.now();
    return this.database.read(async () =>
      (
        await this.#next.all({
          account_id: accountId,
          limit,
          before: timestamp(now - everyVendor),
          now: timestamp(now),
        })
      ).map(({ vendorid, detail_seq }) => ({ vendorid, isDue: detail_seq === 0 })),
    );
  }

  /**
   * Has all vendors of an account read by id in time, which lists leave fields out of. Until its end, nothing is claimed about any of them.
   * @param read vendors that were read by id since the run began
   */
  async enrol({ id, accountId, began }: Run, fields: readonly string[], read: ReadBefore): Promise<void> {
    const finding: Finding = { kind: 'field_drift', vendorid: null, fields: { only_by_id: fields } };
    for (let after = 0; ;) {
      const from = { account_id: accountId, after };
      const last = await this.database.writeWithoutSync(async () => {
        const end = (await this.#enrol.get(from))?.last ?? null;
        if (end !== null) this.#enrolUpTo.send({ ...from, last: end });
        return end;
      });
      if (last === null) break;
      after = last;
      await this.clock.yield();
    }
    await this.database.write(() => {
      // Vendors that came meanwhile.
      this.#enrolOthers.send({ account_id: accountId });
      for (const vendorid of read.vendorids)
        this.#rows.read({ account_id: accountId, vendorid }, began.readSeq, timestamp(read.since));
      this.#begin.send({ account_id: accountId });
      this.#findings.add(id, accountId, finding);
    });
  }

  /** How many listed vendors were read to find out whether lists leave anything out. */
  probed(accountId: string): Promise<number> {
    return this.database.read(async () => (await this.#probed.get({ account_id: accountId }))?.probed ?? 0);
  }

  /** Whether so many were read that lists leave nothing out which is not known. */
  isProbed(accountId: string): Promise<boolean> {
    return this.database.read(async () => (await this.#isProbed.get({ account_id: accountId }))?.is_probed === 1);
  }

  addProbed(accountId: string, probed: number): Promise<void> {
    return this.database.writeWithoutSync(() => this.#addProbed.send({ account_id: accountId, probed }));
  }

  /** So many were read that one that shows something is proof. */
  learnSuspected(accountId: string): Promise<void> {
    const learned_at = timestamp(this.clock.now());
    return this.database.write(() => this.#learnSuspected.send({ account_id: accountId, learned_at }));
  }

  /** Vendors that no read by id showed wait for their next turn: others come first. */
  readInVain({ accountId, began }: Run, vendorids: readonly number[]): Promise<void> {
    return this.database.writeWithoutSync(() => {
      for (const vendorid of vendorids)
        this.#readInVain.send({ account_id: accountId, vendorid, read_seq: began.readSeq });
    });
  }

  /** Lists carry every field again, if they ever left one out. */
  async release(accountId: string): Promise<void> {
    const account = { account_id: accountId };
    if (await this.database.read(() => this.#placed.get(account)))
      await this.database.write(() => this.#release.send(account));
  }
}
