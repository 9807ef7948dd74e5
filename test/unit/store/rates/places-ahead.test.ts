/** The places that a short run takes with its begin. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { Driver } from '../../../../src/store/sqlite/driver-package.ts';
import type { RateDemand, Reservation } from '../../../../src/domain/rate-reservation.ts';
import type { Run } from '../../../../src/store/records/run-record.ts';
import type { Store } from '../../../../src/store/store.ts';
import { RequestRows } from '../../../../src/store/rates/request-rows.ts';
import { Database } from '../../../../src/store/sqlite/database.ts';
import { ask, newPath } from '../../../support/mirror-file.ts';
import { demand, openAs } from '../../../support/mirror/rates.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const ofRun: RateDemand = { ...demand, requests: 100, isBackground: true };
const ofCheck: RateDemand = { ...ofRun, family: 'events', requests: 20 };

const begin = (mirror: Store): Promise<Run> =>
  mirror.runs.beginRun({ accountId: 'one', kind: 'reconcile', trigger: 'schedule' });

async function send(mirror: Store, more: Partial<RateDemand> = {}): Promise<number> {
  const reserved = (await mirror.reserveRequest({ ...ofRun, ...more })) as Reservation;
  reserved.end(0);
  return reserved.stamp.readSeq;
}

/** The numbers of three requests of a run. */
async function sendThree(mirror: Store): Promise<number[]> {
  return [await send(mirror), await send(mirror), await send(mirror)];
}

/** A mirror whose last run sent three requests, after a check of the callbacks. */
async function opened() {
  const [path, clock] = [newPath(), virtualClock({ auto: true })];
  const mirror = await openAs(path, clock, 'one');
  await begin(mirror);
  await send(mirror, ofCheck);
  await sendThree(mirror);
  const rows = (where = '1'): unknown =>
    ask<{ read_seq: number }>(path, `SELECT read_seq FROM _requests WHERE ${where}`).map(({ read_seq }) => read_seq);
  return { path, clock, mirror, rows };
}

it('K24 are used one after the other, and nothing is written', async () => {
  const { mirror } = await opened();
  const { began } = await begin(mirror);
  const write = vi.spyOn(Database.prototype, 'writeWithoutSync');
  const first = began.readSeq + 1;
  expect(await sendThree(mirror)).toEqual([first, first + 1, first + 2]);
  expect(write).not.toHaveBeenCalled();
  // A fourth request has a number after that of the check, which is taken ahead too.
  expect(await send(mirror)).toBe(first + 4);
  expect(write).toHaveBeenCalledOnce();
  write.mockRestore();
});

it('K24 are as many as are left of the rate', async () => {
  const { mirror } = await opened();
  for (let sent = 0; sent < 95; sent += 1) await send(mirror, { isBackground: false });
  const { began } = await begin(mirror);
  expect([await send(mirror), await send(mirror)]).toEqual([began.readSeq + 1, began.readSeq + 2]);
  expect(await mirror.reserveRequest(ofRun)).toMatchObject({ wait: expect.any(Number) as number });
});

it('P1 are not used once another process has taken a number', async () => {
  const { path, clock, mirror } = await opened();
  const other = await openAs(path, clock, 'other');
  await begin(mirror);
  const later = await send(other, { accountId: 'two' });
  expect(await send(mirror)).toBeGreaterThan(later);
});

it('P1 are not used once a delivery or a person had the account read', async () => {
  const { mirror } = await opened();
  const { began } = await begin(mirror);
  expect(await send(mirror, { accountId: 'two', isBackground: false })).toBe(began.readSeq + 5);
  expect(await send(mirror)).toBe(began.readSeq + 1);
  const later = await send(mirror, { isBackground: false });
  expect(await send(mirror)).toBe(later + 1);
});

it('P1 are not used by a second sweep, whose begin has a number of its own', async () => {
  const { mirror } = await opened();
  await begin(mirror);
  const { readSeq } = await mirror.takeStamp();
  expect(await send(mirror)).toBe(readSeq + 1);
});

it.each([
  ['another request', (mirror: Store) => send(mirror, { isBackground: false })],
  ['a second sweep', async (mirror: Store) => (await mirror.takeStamp()).readSeq],
])('P1 are not used once %s has taken a number that it had to wait for', async (_, take) => {
  const { path, mirror } = await opened();
  const outside = new Driver(path);
  onTestFinished(() => void outside.close());
  outside.exec('BEGIN IMMEDIATE');
  const waits = take(mirror);
  await Promise.resolve();
  await Promise.resolve();
  outside.exec('ROLLBACK');
  const { began } = await begin(mirror);
  const later = await waits;
  expect(later).toBeGreaterThan(began.readSeq);
  expect(await send(mirror)).toBe(later + 1);
});

it('P1 are not used five seconds later, except the one of the callbacks, which no vendor is read with', async () => {
  const { mirror, clock } = await opened();
  const { began } = await begin(mirror);
  await clock.advance(4_999);
  expect(await send(mirror)).toBe(began.readSeq + 1);
  await clock.advance(1);
  expect(await send(mirror)).toBe(began.readSeq + 5);
  await clock.advance(900_000);
  expect(await send(mirror, ofCheck)).toBe(began.readSeq + 4);
  expect(await send(mirror, ofCheck)).toBe(began.readSeq + 6);
});

it('K30 count against the rate until they are given back: by the next run, or when the file closes', async () => {
  const { path, clock, mirror, rows } = await opened();
  const { began } = await begin(mirror);
  const [first, second, third, check] = [1, 2, 3, 4].map((nth) => began.readSeq + nth);
  expect(rows('process IS NOT NULL')).toEqual([first, second, third, check]);
  const other = await openAs(path, clock, 'other');
  const all = { ...ofRun, requests: 6 };
  expect(await other.reserveRequest(all)).toMatchObject({ wait: expect.any(Number) as number });
  expect(await send(mirror)).toBeGreaterThan(check!);
  const next = await begin(mirror);
  expect(rows('process IS NOT NULL')).toEqual([next.began.readSeq + 1]);
  await begin(mirror);
  expect(rows('process IS NOT NULL')).toEqual([]);
  await send(mirror, ofCheck);
  await begin(mirror);
  expect(rows('process IS NOT NULL')).toHaveLength(1);
  await mirror.close();
  expect(rows('process IS NOT NULL')).toEqual([]);
});

it('K30 count, if their process dies, until a request sent with the last delay cannot arrive any more', async () => {
  const { path, mirror } = await opened();
  const { began } = await begin(mirror);
  const until = ask(path, 'SELECT counts_until_ms AS until FROM _requests WHERE read_seq = ?', began.readSeq + 1);
  expect(until).toEqual([{ until: began.begun + 5_000 + ofRun.longest + ofRun.per }]);
});

it('K24 let the ends of earlier requests be written with them, once', async () => {
  const end = vi.spyOn(RequestRows.prototype, 'end');
  const { mirror } = await opened();
  await begin(mirror);
  expect(end).toHaveBeenCalledTimes(4);
  await begin(mirror);
  await send(mirror);
  expect(end).toHaveBeenCalledTimes(4);
  end.mockRestore();
});

it('K30 are not used once the next run has given them back', async () => {
  const { mirror } = await opened();
  await begin(mirror);
  const next = begin(mirror);
  const sent = await send(mirror, ofCheck);
  expect(sent).toBeGreaterThan((await next).began.readSeq);
});

it('K30 are not taken where many requests are expected, or where few are allowed', async () => {
  const { mirror, rows } = await opened();
  const begun = async (): Promise<unknown> => rows(`read_seq > ${(await begin(mirror)).began.readSeq}`);
  expect(await begun()).toHaveLength(4);
  for (let sent = 0; sent < 11; sent += 1) await send(mirror);
  expect(await begun()).toEqual([]);
  for (let sent = 0; sent < 3; sent += 1) await send(mirror, { requests: 29 });
  expect(await begun()).toEqual([]);
});
