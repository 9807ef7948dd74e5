/** L82: "since" is the first failure, however many runs, other causes and restarts came after it. */
import { describe, expect, it } from 'vitest';
import { timestamp } from '../../../src/domain/clock.ts';
import type { StatusDocument } from '../../../src/health/status-document.ts';
import { testbed } from '../../support/testbed.ts';

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];

interface Ended {
  /** How long ago it ended. */
  readonly ago: number;
  readonly outcome: string;
  readonly error_code?: string;
}

/** One every 15 minutes for a week. */
const week = (outcome: string, error_code: string): Ended[] =>
  Array.from({ length: 672 }, (_, index) => ({ ago: 7 * day - index * 15 * minute, outcome, error_code }));

const complete = (ago: number): Ended => ({ ago, outcome: 'complete' });
const failed = (ago: number, error_code: string, outcome = 'failed'): Ended => ({ ago, outcome, error_code });

/** What `status` says after these runs. */
async function after(runs: readonly Ended[], failing?: { first: number; code: string }): Promise<StatusDocument> {
  const line = await testbed({ level: 'command' });
  const at = (ago: number): string => timestamp(line.clock.now() - ago);
  await line.fill({
    _accounts: [{ account_id: '6BApk', added_at: at(9 * day) }],
    runs: runs.map(({ ago, outcome, error_code }, index) => ({
      ...{ id: index + 1, account_id: '6BApk', kind: 'reconcile', trigger: 'schedule', began_seq: 1 },
      ...{ started_at: at(ago + 1_000), finished_at: at(ago), outcome },
      ...{ error_code: error_code ?? null, error: error_code ? 'It failed.' : null },
      safe_as_of: outcome === 'complete' ? at(ago) : null,
      listed_as_of: outcome === 'complete' ? at(ago) : null,
    })),
    ...(failing && {
      _request_failures: [
        {
          ...{ account_id: '6BApk', requests: 3, first_at: at(failing.first), last_at: at(1_000) },
          ...{ code: failing.code, message: 'It failed.' },
        },
      ],
    }),
  });
  return JSON.parse((await line.run('status', '--account', '6BApk', '--json')).stdout) as StatusDocument;
}

const cases: readonly [
  title: string,
  runs: Ended[],
  code: string,
  ago: number,
  failing?: { first: number; code: string },
][] = [
  [
    'a token that has been dead for a week',
    [complete(8 * day), ...week('failed', 'unauthenticated')],
    'access_refused',
    7 * day,
  ],
  [
    'a dead token, through an outage of the service',
    [
      complete(day),
      failed(9 * hour, 'access_denied'),
      failed(8 * hour, 'service_timeout'),
      failed(hour, 'unauthenticated'),
    ],
    'access_refused',
    9 * hour,
  ],
  [
    'a token that died while the service did not answer',
    [
      complete(day),
      failed(9 * hour, 'service_timeout'),
      failed(hour, 'unauthenticated'),
      failed(1_000, 'unauthenticated'),
    ],
    'access_refused',
    hour,
  ],
  [
    'a token that was refused, then read a part, and is refused again',
    [
      failed(9 * hour, 'access_denied'),
      failed(5 * hour, 'sweep_incomplete', 'incomplete'),
      failed(hour, 'access_denied'),
    ],
    'access_refused',
    hour,
  ],
  [
    'a token that could not be renewed before the last run noticed it',
    [complete(day), failed(minute, 'token_refresh_failed')],
    'access_refused',
    20 * minute,
    { first: 20 * minute, code: 'token_refresh_failed' },
  ],
  [
    'a dead token, of which the last request failed for another reason',
    [complete(day), failed(9 * hour, 'unauthenticated'), failed(minute, 'unauthenticated')],
    'access_refused',
    9 * hour,
    { first: 20 * minute, code: 'service_timeout' },
  ],
  [
    'runs that have been incomplete for a week, for one reason or another',
    [complete(8 * day), ...week('incomplete', 'sweep_incomplete'), failed(minute, 'record_rejected', 'incomplete')],
    'last_run',
    7 * day,
  ],
  [
    'runs that failed, were complete, and fail again',
    [
      failed(9 * hour, 'breaker_tripped'),
      complete(8 * hour),
      failed(7 * hour, 'breaker_tripped', 'incomplete'),
      failed(minute, 'breaker_tripped', 'incomplete'),
    ],
    'last_run',
    7 * hour,
  ],
  [
    'an account of which no run was ever complete',
    [failed(3 * day, 'not_found'), failed(2 * day, 'not_found'), failed(minute, 'not_found')],
    'never_mirrored',
    3 * day,
  ],
];

describe('L82 since when', () => {
  it.each(cases)('%s, is the first failure', async (_, runs, code, ago, failing) => {
    const { at, accounts } = await after(runs, failing);
    const found = accounts[0]!.problems.find((problem) => problem.code === code);
    expect(found?.since).toBe(timestamp(Date.parse(`${at.replace(' ', 'T')}Z`) - ago));
  });
});
