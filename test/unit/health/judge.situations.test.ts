/** Situations, and what each surface says of it: all of them show one judgement. */
import { describe, expect, it } from 'vitest';
import { printText } from '../../../src/cmd/status.ts';
import { accountCheckups, askedAnew, checkOf, ofInstallation } from '../../../src/cmd/doctor-mirror.ts';
import type { ProcessContext } from '../../../src/cmd/process/process-context.ts';
import { summaryLines } from '../../../src/cmd/live-summary.ts';
import { jsonText } from '../../../src/domain/steering.ts';
import { catalogue } from '../../../src/domain/errors.ts';
import { advice } from '../../../src/health/causes.ts';
import { judge, sentenceOf, type AccountFacts, type HealthFacts } from '../../../src/health/judge.ts';
import { statusDocument, type StatusDocument } from '../../../src/health/status-document.ts';
import { startAdmin } from '../../support/admin/admin-requests.ts';
import {
  able,
  account,
  before,
  daemon,
  facts,
  newAccount,
  noon,
  published,
  run,
  target,
} from '../../support/admin/sample.ts';
import { testbed } from '../../support/testbed.ts';
import { collector } from '../../support/testbed/command.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const [minute, hour] = [60_000, 3_600_000];
const { freshness } = account();
const old = before(5 * hour);
const failing = (code: string): AccountFacts['failing'] => ({
  requests: 7,
  first_at: before(10 * minute),
  last_at: before(1_000),
  code,
  message: 'It failed.',
});
const failed = (error_code: string, error = 'It failed.') => run(9, { outcome: 'failed', error, error_code });
const firstPull = [run(1, { kind: 'pull', outcome: 'running', finished_at: null })];
const leftRun = (kind: 'pull' | 'reconcile' | 'verify', id = 9) =>
  run(id, { kind, outcome: 'abandoned', finished_at: null, error: 'The process ended during the run.' });
const unreadable = (code: string): AccountFacts['undecided'][number] => ({
  vendorid: 1006,
  since: before(hour),
  code,
  error: 'The service failed with status 500.',
});
const refusedRequests = (
  outcome: string,
  change: Partial<AccountFacts['refused'][number]> = {},
): AccountFacts['refused'][number] => ({
  ...{ outcome, refused: 25, first_at: before(3 * hour), last_at: before(1_000) },
  ...{ recent: 12, recent_at: before(hour), detail: null },
  ...change,
});
const unwritable = {
  code: 'file_unwritable',
  error: 'There is no such folder.',
  failures: 3,
  failed_at: before(minute),
};
const stale = { ...freshness, safe_as_of: old, listed_as_of: old };
const grant = { requests: 2, first_at: before(hour), last_at: before(1), code: 'token_refresh_failed', message: 'No.' };
const unstored = (code: 'disk_full' | 'file_unwritable'): Partial<HealthFacts> => ({
  ability: { ...able, trouble: { code, message: 'Nothing can be stored.' } },
});

interface Expected {
  readonly verdict: readonly [code: string, tone: string];
  readonly ready: boolean;
  readonly stale: boolean;
  /** Whether the process is ready. */
  readonly process?: boolean;
  /** Part of what is to do; null where there is nothing to do. */
  readonly remedy: string | null;
}

/** What is expected of a reliable mirror with something to do, of one that is out of date, and so on. */
const correct = (code: string, remedy: string | null): Expected => ({
  verdict: [code, code === 'correct' ? 'good' : 'fair'],
  ready: true,
  stale: false,
  remedy,
});
const doubtful = (code: string, remedy: string | null, tone = 'bad'): Expected => ({
  verdict: [code, tone],
  ready: false,
  stale: true,
  remedy,
});
const refused = (code: keyof typeof catalogue): Expected => ({
  verdict: ['access_refused', 'bad'],
  ready: false,
  stale: false,
  remedy: catalogue[code].hint,
});
const unserved = (code: string, remedy: string | null): Expected => ({
  verdict: [code, 'fair'],
  ready: false,
  stale: false,
  remedy,
});

const of = (change: Partial<AccountFacts>, more: Partial<HealthFacts> = {}): HealthFacts => ({
  ...facts([account(change)]),
  ...more,
});

const situations: readonly [title: string, given: HealthFacts, expected: Expected][] = [
  ['all is well', facts(), correct('correct', null)],
  ['the token is dead', of({ runs: [failed('unauthenticated')] }), refused('unauthenticated')],
  [
    'the token died between two runs',
    of({ failing: failing('token_refresh_failed') }),
    refused('token_refresh_failed'),
  ],
  [
    'L82 the token of its connection was refused by another request than those of runs',
    of({}, { connections: [{ connection: 'default', accounts: 1, failing: { ...grant, connection: 'default' } }] }),
    refused('token_refresh_failed'),
  ],
  ['the account is not that of the token', of({ runs: [failed('access_denied')] }), refused('access_denied')],
  [
    'the service has no such account, and nothing was ever mirrored',
    facts([{ ...newAccount('6BApk'), runs: [failed('not_found')] }]),
    doubtful('never_mirrored', catalogue.not_found.hint),
  ],
  [
    'nothing was ever mirrored, and the daemon begins',
    facts([newAccount('6BApk')]),
    doubtful('never_mirrored', null, 'busy'),
  ],
  [
    'nothing was ever mirrored, and no daemon runs',
    { ...facts([newAccount('6BApk')]), startedAt: null, ability: { ...able, listening: null } },
    doubtful('never_mirrored', '`vendor-mirror sync`'),
  ],
  [
    'nothing was ever mirrored, and the daemons only listen',
    { ...facts([newAccount('6BApk')]), serving: [{ ...daemon, works: false, may_work: false }] },
    doubtful('never_mirrored', '`vendor-mirror sync`'),
  ],
  [
    'the first pull is under way',
    facts([{ ...newAccount('6BApk'), runs: firstPull }]),
    doubtful('first_pull', null, 'busy'),
  ],
  [
    'the last run was incomplete',
    of({ runs: [run(9, { outcome: 'incomplete', error: 'Page 3 was cut off.', error_code: 'sweep_incomplete' })] }),
    correct('last_run', catalogue.sweep_incomplete.hint),
  ],
  ...(['equal', 'incomplete'] as const).map((next): (typeof situations)[number] => [
    `a comparison found differences, and the next run was ${next}`,
    of({
      runs: [
        ...(next === 'equal'
          ? []
          : [run(10, { outcome: 'incomplete', error: 'Page 3 was cut off.', error_code: 'sweep_incomplete' })]),
        run(9, { kind: 'verify', error: '2 vendors differ.', error_code: 'differences' }),
      ],
    }),
    correct('mirror_differs', catalogue.differences.hint),
  ]),
  [
    'a comparison found differences, and a run was complete after it',
    of({ runs: [run(10), run(9, { kind: 'verify', error: '2 vendors differ.', error_code: 'differences' })] }),
    correct('correct', null),
  ],
  [
    'the breaker tripped',
    of({ runs: [failed('breaker_tripped')], findings: [{ kind: 'breaker', count: 1 }] }),
    correct('last_run', '--approve-absences N'),
  ],
  [
    'absences wait for approval',
    of({ findings: [{ kind: 'breaker', count: 1 }] }),
    correct('absences_waiting', '--approve-absences N'),
  ],
  ['L12 the token may see less', of({ withheldAbsences: 4 }), correct('token_sees_less', '--approve-absences 4')],
  [
    'L8 an earlier version called vendors absent that lists may hide',
    of({ unprovenAbsences: 2 }),
    correct('absences_unproven', 'vendor-mirror reconcile --account'),
  ],
  [
    'the disk is full',
    of({}, unstored('disk_full')),
    { ...correct('cannot_store', catalogue.disk_full.hint), verdict: ['cannot_store', 'bad'], process: false },
  ],
  [
    'the listener is closed',
    of({}, { ability: { ...able, listening: false } }),
    { ...correct('listener_closed', null), verdict: ['listener_closed', 'bad'], process: false },
  ],
  [
    'the settings name another service',
    of({}, { ability: { ...able, trouble: { code: 'other_service', message: 'The mirror is of another.' } } }),
    { ...correct('other_service', catalogue.other_service.hint), verdict: ['other_service', 'bad'], process: false },
  ],
  ['the mirror is older than allowed', of({ freshness: stale }), doubtful('stale', '`vendor-mirror sync`')],
  [
    'the service fails, and the mirror is still fresh',
    of({ failing: failing('service_timeout') }),
    correct('service_failing', catalogue.service_timeout.hint),
  ],
  [
    'the service fails, and the mirror is old',
    of({ failing: failing('service_timeout'), freshness: stale }),
    doubtful('service_failing', catalogue.service_timeout.hint),
  ],
  [
    'the clock was set back',
    of({ freshness: { ...freshness, safe_as_of: null, listed_as_of: null } }),
    doubtful('clock_set_back', '`vendor-mirror sync`'),
  ],
  [
    'the service no longer sends a field',
    of({ unsent: [{ field: 'outstanding_balance', since: before(hour) }] }),
    correct('fields_unsent', 'vendors.exclude'),
  ],
  [
    'what was read lies in the future',
    of({ freshness: { ...freshness, safe_as_of: '2031-01-01 00:00:00.000', listed_as_of: '2031-01-01 00:00:00.000' } }),
    doubtful('clock_set_back', '`vendor-mirror sync`'),
  ],
  [
    'the clock is wrong',
    of({ freshness: { ...freshness, safe_as_of: null, listed_as_of: null }, clockAheadMs: -7_200_000 }),
    doubtful('clock_wrong', 'Set the clock'),
  ],
  ['the machine slept', of({ doubt: 'The machine slept for 6 h.' }), doubtful('in_doubt', null)],
  [
    'a callback is not verified',
    of({ freshness: { ...freshness, callback_verified: 0 } }),
    correct('callback_unverified', '`vendor-mirror callbacks resend 2001 --account 6BApk`, while the daemon runs'),
  ],
  [
    'the callback leads to another address than the settings name',
    of({ movedTo: 'https://new.example.com' }),
    correct('callback_unverified', 'start the daemon again'),
  ],
  [
    'no callback is registered',
    of({ callbacks: [], freshness: { ...freshness, callback_verified: null } }),
    correct('callback_unverified', 'The running daemon registers and verifies it'),
  ],
  [
    'L93 no callback is registered, because the service refused it',
    of({
      ...{ callbacks: [], freshness: { ...freshness, callback_verified: null } },
      refusals: [
        {
          ...{ event: 'bill_vendor', code: 'access_denied', message: 'Not for this token.', remedy: null, uri: null },
          ...{ refused_at: before(hour), attempts: 6, retry_at: before(-20 * minute) },
        },
      ],
    }),
    correct(
      'callback_unverified',
      'could not be registered, so nothing is delivered: Not for this token. Give the token the scope of that event, or remove it from listener.events. A running daemon tries again in 20 min, or at once on SIGHUP.',
    ),
  ],
  [
    'deliveries are silent',
    of({ missedSince: 3, lastDelivery: before(hour) }),
    correct('deliveries_silent', '`vendor-mirror callbacks resend 2001 --account 6BApk`'),
  ],
  [
    'L23 deliveries are refused, because a proxy removes the signature',
    of({
      refused: [refusedRequests('unsigned', { detail: 'x-other came instead' })],
      lastDelivery: null,
      missedSince: 3,
    }),
    correct('deliveries_refused', 'service.signatureHeader'),
  ],
  [
    'L23 deliveries are signed with another key since the last that was accepted, and none changed',
    of({
      refused: [refusedRequests('wrong_signature'), refusedRequests('unsigned', { last_at: before(2 * hour) })],
      missedSince: 1,
    }),
    correct('deliveries_refused', '`vendor-mirror callbacks resend 2001 --account 6BApk`'),
  ],
  [
    'L52 requests come with wrong signatures while deliveries are accepted and none is missing',
    of({ refused: [refusedRequests('wrong_signature', { refused: 6 })] }),
    correct('address_known', '`vendor-mirror callbacks rotate --account 6BApk`'),
  ],
  [
    'L52 codes come that the service does not accept, and some that nobody awaited',
    of({
      refused: [refusedRequests('wrong_code', { refused: 3 }), refusedRequests('unexpected_code', { refused: 3 })],
    }),
    correct('address_known', '`vendor-mirror callbacks rotate --account 6BApk`'),
  ],
  [
    'L52 few requests came with wrong codes or signatures, or long ago',
    of({
      refused: [
        refusedRequests('wrong_code', { refused: 2 }),
        refusedRequests('wrong_signature', { refused: 3 }),
        refusedRequests('unexpected_code', { refused: 60, last_at: before(25 * hour) }),
      ],
    }),
    correct('correct', null),
  ],
  [
    'L23 deliveries were refused, and one was accepted since',
    of({ refused: [refusedRequests('malformed')], lastDelivery: before(1) }),
    correct('correct', null),
  ],
  [
    'L23 deliveries were signed with another key, and a new one was asked for since',
    of({ refused: [refusedRequests('wrong_signature')], lastDelivery: null, provenAt: before(1) }),
    correct('correct', null),
  ],
  [
    'L23 deliveries are signed with another key, also since a new one was asked for',
    of({ refused: [refusedRequests('wrong_signature')], lastDelivery: null, provenAt: before(2_000) }),
    correct('deliveries_refused', '`vendor-mirror callbacks resend 2001 --account 6BApk`'),
  ],
  [
    'L23 requests were refused that say nothing of deliveries',
    of({
      refused: [
        refusedRequests('unknown_path'),
        refusedRequests('unexpected_code', { refused: 2 }),
        refusedRequests('unavailable'),
      ],
    }),
    correct('correct', null),
  ],
  [
    'L104 a callback of lost secrets leads here',
    of({
      unknownCallbacks: [{ callbackid: 2000, found_at: before(hour) }],
      refused: [refusedRequests('unknown_path')],
    }),
    correct('callbacks_unknown', '`vendor-mirror callbacks delete 2000 --account 6BApk`'),
  ],
  [
    'L104 nothing leads here any more',
    of({ unknownCallbacks: [{ callbackid: 2000, found_at: before(hour) }], awaitsDeliveries: false }),
    correct('correct', null),
  ],
  [
    'vendors are parked',
    of({ queue: { waiting: 0, parked: 2 } }),
    correct('vendors_parked', '`vendor-mirror deliveries retry`'),
  ],
  [
    'vendors are parked, most of them for one cause',
    of({
      queue: { waiting: 0, parked: 3 },
      parkedFor: [
        { error: 'The service failed with status 500.', vendors: 2 },
        { error: null, vendors: 1 },
      ],
    }),
    correct('vendors_parked', 'Most often: The service failed with status 500.'),
  ],
  [
    'a receiver of webhooks answered 410',
    of({}, { targets: [target({ disabled_at: before(hour) })] }),
    correct('receiver_gone', catalogue.receiver_gone.hint),
  ],
  [
    'changes were given up for a receiver, and another is no longer in the settings',
    of(
      {},
      {
        targets: [
          target({ parked: 2, parked_error: 'It answered 422.' }),
          { ...target({ target: 'old.example' }), state: 'not in the settings' },
        ],
      },
    ),
    correct('changes_given_up', '`vendor-mirror notify retry'),
  ],
  [
    'a vendor cannot be read',
    of({ freshness: { ...freshness, undecided: 1 }, undecided: [unreadable('service_unavailable')] }),
    correct('vendors_undecided', 'Open the vendor in the service'),
  ],
  [
    'vendors cannot be read because access to them is denied',
    of({ freshness: { ...freshness, undecided: 3 }, undecided: [unreadable('access_denied')] }),
    correct('vendors_undecided', 'Give the person whose token it is access'),
  ],
  [
    'the list leaves out vendors that reads by id show',
    of({ freshness: { ...freshness, undecided: 2 }, undecided: [unreadable('list_refuted')] }),
    correct('vendors_undecided', 'Report it to the service'),
  ],
  ['the queue is stuck', of({ oldestMark: before(hour) }), correct('queue_stuck', '`vendor-mirror sync`')],
  ['the account is paused', of({ freshness: { ...stale, paused_since: before(hour) } }), unserved('paused', null)],
  [
    'the account is no longer served',
    of({ isLeft: true, callbacks: [], freshness: stale }),
    unserved('not_served', null),
  ],
  [
    'the account is no longer served, and its callback is registered',
    of({ isLeft: true, freshness: stale }),
    unserved('not_served', '`vendor-mirror callbacks delete 2001 --account 6BApk`'),
  ],
  [
    'one of two accounts is refused',
    facts([account({ account: 'fine' }), account({ runs: [failed('unauthenticated')] })]),
    refused('unauthenticated'),
  ],
  [
    'one of two connections gives no access',
    of(
      {},
      {
        connections: [grant, null].map((one, index) => ({
          connection: `c${index}`,
          accounts: 1,
          failing: one && { ...one, connection: 'c0' },
        })),
      },
    ),
    correct('connection_refused', '`vendor-mirror login c0`'),
  ],
  [
    'so little space is free that sweeps wait',
    of({}, { ability: { ...able, diskFreeBytes: 20_000_000 } }),
    correct('disk_low', catalogue.disk_full.hint),
  ],
  [
    'the last run failed for want of space that is still wanting, which is said once',
    of({ runs: [failed('disk_full', 'No space.')] }, { ability: { ...able, diskFreeBytes: 20_000_000 } }),
    correct('disk_low', catalogue.disk_full.hint),
  ],
  [
    'the last run failed for want of space, and there is space again',
    of({ runs: [failed('disk_full', 'No space.')] }),
    correct('last_run', null),
  ],
  [
    'no sweep was complete for want of space',
    {
      ...facts([{ ...newAccount('6BApk'), runs: [failed('disk_full', 'No space.')] }]),
      ability: { ...able, diskFreeBytes: 20_000_000 },
    },
    doubtful('never_mirrored', catalogue.disk_full.hint),
  ],
  [
    'K9 the first pull was cut off, and no daemon goes on with it',
    { ...facts([{ ...newAccount('6BApk'), runs: [leftRun('pull')] }]), startedAt: null },
    doubtful('never_mirrored', 'Run `vendor-mirror sync` again.'),
  ],
  [
    'K9 the first pull was cut off, and a daemon goes on with it',
    facts([{ ...newAccount('6BApk'), runs: [leftRun('pull')] }]),
    doubtful('never_mirrored', null, 'busy'),
  ],
  [
    'K9 the first pull is under way again after it was cut off',
    facts([{ ...newAccount('6BApk'), runs: [...firstPull.map((one) => ({ ...one, id: 10 })), leftRun('pull')] }]),
    doubtful('first_pull', null, 'busy'),
  ],
  [
    'K9 a comparison was cut off, and nothing was ever mirrored',
    facts([{ ...newAccount('6BApk'), runs: [leftRun('verify')] }]),
    doubtful('never_mirrored', 'Run `vendor-mirror sync`.'),
  ],
  [
    'K9 the first pull is recorded as running, and its process cannot be seen',
    facts([{ ...newAccount('6BApk'), runs: firstPull, isRunUnseen: true }]),
    doubtful('first_pull', 'Run `vendor-mirror status` as the user who pulls.', 'busy'),
  ],
  [
    'K9 a reconciliation was cut off, and no daemon goes on with it',
    of({ runs: [leftRun('reconcile'), run(8)] }, { startedAt: null }),
    correct('last_run', 'Run `vendor-mirror reconcile` again.'),
  ],
  [
    'K9 a reconciliation was cut off, and a daemon goes on with it',
    of({ runs: [leftRun('reconcile'), run(8)] }),
    correct('last_run', null),
  ],
  [
    'K9 a comparison was cut off beside a daemon, which does not repeat it',
    of({ runs: [leftRun('verify'), run(8)] }),
    correct('last_run', 'Run `vendor-mirror verify` again.'),
  ],
  [
    'a receiver of webhooks has been down for long',
    of({}, { targets: [target({ failing_since: before(hour), waiting: 1 })] }),
    correct('receiver_failing', catalogue.receiver_failing.hint),
  ],
  [
    'L79 a copy for readers cannot be written',
    of({}, { publications: [published(), published({ path: 'b.csv', failing_since: before(hour), ...unwritable })] }),
    correct('publication_failing', catalogue.file_unwritable.hint),
  ],
  [
    'L61 a copy for readers is held up by another',
    of({}, { publications: [published({ behind_since: before(hour) })] }),
    correct('publication_late', catalogue.copy_too_slow.hint),
  ],
  [
    'a copy for readers lacks the latest changes',
    of({}, { publications: [published({ behind_since: before(minute) })] }),
    correct('correct', null),
  ],
  [
    'L54 the listener is open to this machine alone since an upgrade, and no delivery has come since',
    of({ lastDelivery: before(2 * hour) }, { listenerMovedAt: before(hour) }),
    correct('listener_moved', 'listener.host: 0.0.0.0'),
  ],
  [
    'L54 the listener is open to this machine alone since an upgrade, and a delivery has come since',
    of({ lastDelivery: before(minute) }, { listenerMovedAt: before(hour) }),
    correct('correct', null),
  ],
  [
    'no daemon takes the deliveries of a callback',
    of({}, { startedAt: null, ability: { ...able, listening: null }, process: null }),
    correct('no_daemon', '`vendor-mirror serve`'),
  ],
  [
    'the daemons only listen',
    of({}, { serving: [{ ...daemon, works: false, may_work: false }] }),
    correct('nobody_works', '`vendor-mirror serve`'),
  ],
  [
    'a daemon takes over from one that is gone',
    of({}, { serving: [{ ...daemon, works: false }] }),
    correct('correct', null),
  ],
  [
    'the daemons only work',
    of({}, { serving: [{ ...daemon, listens: false }], ability: { ...able, listening: null } }),
    correct('nobody_listens', '`vendor-mirror serve`'),
  ],
];

const plain = (text: string): string => text.replaceAll('`', '').replaceAll(/\s+/g, ' ').replaceAll("'", '&#39;');

/** What the command prints of these facts. */
async function statusOf(given: HealthFacts): Promise<string> {
  const { stream, text } = collector();
  const context = { stdout: stream, env: {}, clock: virtualClock({ start: noon }) } as unknown as ProcessContext;
  const ofEach = new Map(given.accounts.map((one) => [one.account, { rows: [], unknown: 0 }]));
  await printText(context, judge(given, noon), { ofEach, ofAll: [] });
  return text();
}

/** As it comes of a sentence within a sentence; not as in a path. */
const doubleStop = /\.\.(?![./\w])/;

describe('L44 L23 L61 L79 L93 L104 one judgement, shown alike by page, live summary, status, doctor, /api/status, /readyz and metrics, where', () => {
  it.each(situations)(
    '%s',
    async (_, given, { verdict: [code, tone], ready, stale: isStale, process = true, remedy }) => {
      const health = judge(given, noon);
      const { words } = health.verdict;
      expect([health.verdict.code, health.verdict.tone]).toEqual([code, tone]);
      const sentences = [...health.process, ...health.bySeverity[0]!.problems, ...health.installation].map(sentenceOf);
      const toDo = advice(health);
      if (remedy === null) expect(toDo).toEqual([]);
      else expect(toDo.join('\n')).toContain(remedy);
      expect(toDo.join('\n')).not.toMatch(/nothing (needs|has) to|nothing to do/i);

      const text = await statusOf(given);
      const [first = ''] = text.split('\n');
      expect(first).toContain(words);
      for (const line of sentences) expect(text).toContain(line);
      expect(first).toContain(
        toDo.length === 0 ? 'nothing to do' : toDo.length === 1 ? 'one thing to do' : 'things to do',
      );

      const document = JSON.parse(jsonText(statusDocument(health))) as StatusDocument;
      const { ask } = await startAdmin({}, () => Promise.resolve(given), undefined, given.ability);
      const served = JSON.parse((await ask('/api/status')).body) as StatusDocument;
      expect(served).toEqual(document);
      expect(served).toMatchObject({
        ready: process && given.startedAt !== null,
        fresh: !isStale,
        accounts_stale: isStale ? 1 : 0,
        verdict: { code, tone, message: `${words}.` },
        advice: toDo,
      });
      const worst = health.bySeverity[0]!.facts.account;
      expect(served.accounts.find(({ account: id }) => id === worst)).toMatchObject({ ready, stale: isStale });

      const { stream } = collector(500);
      const place = { dashboard: 'http://127.0.0.1:8788', entries: [], room: 60 };
      const summary = await summaryLines({ stdout: stream, env: { NO_COLOR: '1' } }, health, place);
      expect(summary[0]).toContain(words);
      for (const line of sentences) expect(summary.join('\n')).toContain(line);

      const html = (await ask('/')).body;
      const page = html.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ');
      expect(html).toContain(`class="verdict ${tone}"`);
      expect(page).toContain(words);
      // Of a first pull, a section of its own says how far it is.
      if (code === 'first_pull') expect(page).toContain('vendors so far');
      // Where a cause repeats the headline, the page says it once.
      else
        for (const line of sentences)
          expect(page).toContain(plain(line.replace(`${words} (`, '(').replace(/^\([a-z_]+\)\. /, '')));

      const doctor = [
        ...health.accounts.flatMap((one) =>
          accountCheckups({ clock: virtualClock({ start: noon }) }, one, { isReached: true, areCallbacksKnown: true }),
        ),
        ...ofInstallation(health),
      ];
      for (const { code: own, message, remedy: toDo } of [...health.bySeverity[0]!.problems, ...health.installation]) {
        if (askedAnew.has(own)) continue;
        const named = { check: checkOf[own], message: expect.stringContaining(message) as string };
        expect(doctor).toContainEqual(expect.objectContaining(toDo === null ? named : { ...named, remedy: toDo }));
      }

      for (const shown of [text, summary.join('\n'), page, JSON.stringify([served, doctor])])
        expect(shown).not.toMatch(doubleStop);

      const metrics = new Map(
        (await ask('/metrics')).body.split('\n').map((line) => [line.split(' ')[0], Number(line.split(' ')[1])]),
      );
      const isServed = code !== 'paused' && code !== 'not_served';
      expect(metrics.get(`vendor_mirror_ready{account="${worst}"}`)).toBe(isServed ? Number(ready) : undefined);
      expect(metrics.get('vendor_mirror_accounts_stale')).toBe(isStale ? 1 : 0);
      if (given.startedAt === null) return;
      expect(metrics.get('vendor_mirror_process_ready')).toBe(Number(process));
      expect((await ask('/readyz')).status).toBe(process ? 200 : 503);
    },
  );

  it('the sandbox was mirrored by a command: status --json has the keys of /api/status, no more and no fewer', async () => {
    const line = await testbed({ level: 'command', service: { account: ['6BApk', 'other'] } });
    await line.run('sync');
    const printed = JSON.parse((await line.run('status', '--json')).stdout) as StatusDocument;
    const { ask } = await startAdmin();
    const served = JSON.parse((await ask('/api/status')).body) as StatusDocument;
    const keys = (document: StatusDocument): string[][] =>
      [document, document.accounts[0]!, document.accounts[0]!.runs[0]!, document.accounts[0]!.freshness].map((one) =>
        Object.keys(one).sort(),
      );
    expect(keys(printed)).toEqual(keys(served));
    expect(printed).toMatchObject({ ready: false, fresh: true, verdict: { code: 'correct' }, advice: [] });
  });
});
