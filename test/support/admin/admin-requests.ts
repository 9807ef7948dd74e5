/** An admin server on a free port, and requests to it with any header, `Host` included. */
import { request, type OutgoingHttpHeaders } from 'node:http';
import { onTestFinished } from 'vitest';
import type { Ability, HealthFacts } from '../../../src/health/judge.ts';
import { Metrics } from '../../../src/admin/metrics.ts';
import { createAdminServer, type AdminOptions } from '../../../src/admin/admin-server.ts';
import { systemClock, type Clock } from '../../../src/domain/clock.ts';
import type { Query } from '../../../src/store/sql/statement.ts';
import type { Figures } from '../../../src/store/reports/figures.ts';
import { listVendors } from '../../../src/store/reports/vendor-list.ts';
import type { AccountOwed } from '../../../src/store/reports/owed.ts';
import { compiled } from '../source/compiled.ts';
import { recordActions, type RecordedActions } from './recorded-actions.ts';
import { sampleFigures } from './sample-figures.ts';
import { able, facts, noon } from './sample.ts';
import { defaultSettings } from '../settings.ts';

interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

export interface Admin {
  readonly ask: (
    path: string,
    headers?: OutgoingHttpHeaders | readonly string[],
    method?: string,
    body?: string,
  ) => Promise<Answer>;
  /** Where it listens. */
  readonly url: string;
  readonly stop: () => Promise<void>;
  readonly metrics: Metrics;
  /** What was asked of the daemon. */
  readonly asked: RecordedActions['asked'];
  readonly faults: unknown[];
}

/** Started for one test, whose wall clock stands at noon. */
export async function startAdmin(
  { settingsOption = '', ...settings }: Partial<AdminOptions['settings'] & Pick<AdminOptions, 'settingsOption'>> = {},
  supply: () => Promise<HealthFacts> = () => Promise.resolve(facts()),
  clock: Clock = { ...systemClock, now: () => noon },
  ability: Ability = able,
  query: Query = () => Promise.reject(new Error('There is no mirror.')),
  figures: Figures | Promise<Figures> = sampleFigures,
  owed: readonly AccountOwed[] = [],
): Promise<Admin> {
  const metrics = new Metrics();
  const actions = recordActions(['6BApk', 'other'], 3);
  const faults: unknown[] = [];
  const server = createAdminServer({
    settingsOption,
    settings: { ...defaultSettings.admin, port: 0, ...settings },
    source: { facts: supply, ability: () => ability },
    figures: () => Promise.resolve(figures),
    owed: () => Promise.resolve(owed),
    browse: (filter) => query((sqlite) => listVendors(sqlite, filter)),
    assetFolder: compiled.pages,
    actions,
    metrics,
    query,
    clock,
    onFault: (error) => faults.push(error),
    onGuesses: () => undefined,
  });
  await server.start();
  onTestFinished(() => server.stop());
  const { port } = server.address;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => server.stop(),
    metrics,
    asked: actions.asked,
    faults,
    ask: (path, headers = {}, method = 'GET', sent = '') =>
      new Promise((resolve, reject) => {
        const asked = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
          let body = '';
          response.setEncoding('utf8').on('data', (text: string) => (body += text));
          response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
        });
        asked.on('error', reject).end(sent);
      }),
  };
}
