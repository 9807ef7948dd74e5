/** The operator's own HTTP server: health, metrics, status, vendors and the pages for people. */
import type { Clock } from '../domain/clock.ts';
import type { Settings } from '../settings/parse.ts';
import { judge, type HealthSource } from '../health/judge.ts';
import { readinessDocument, statusDocument } from '../health/status-document.ts';
import { type HttpAnswer, HttpServer } from '../http/server.ts';
import type { Query } from '../store/sqlite/query.ts';
import type { Figures } from '../store/figures/figures.ts';
import { actionRoutes, type Actions } from './api/actions-api.ts';
import type { ApiHandle } from './api/answers.ts';
import { ChangeStreams } from './api/change-streams.ts';
import { changesApi } from './api/changes-api.ts';
import { vendorApi, vendorsApi } from './api/vendors-api.ts';
import { guarded, ownPagesOnly, type Handle } from './guard.ts';
import type { Metrics } from './metrics/metrics.ts';
import { pageRoutes } from './page/page-routes.ts';
import { shared } from './health/shared-result.ts';

export interface AdminOptions {
  readonly settings: Settings['admin'];
  readonly source: HealthSource;
  /** Works out the figures of an account. @throws Error where it cannot. */
  readonly figures: (accountId: string) => Promise<Figures>;
  readonly actions: Actions;
  readonly metrics: Metrics;
  /** Asks the mirror. */
  readonly query: Query;
  readonly clock: Clock;
  /** The folder that holds what the pages load in the browser. */
  readonly assetFolder: string;
  /** Called when a page could not be made; the caller gets a bare 500. */
  readonly onFault: (error: unknown) => void;
}

/**
 * `/healthz`, `/readyz`, `/metrics`, `/api/status`, `/api/changes`, `/api/vendors`, `/api/actions` and the pages. With a token set, all but `/healthz` ask for it: what starts and
 * stops the process may know that it is alive, and nothing else. Starting throws `port_taken`.
 */
export function createAdminServer(options: AdminOptions): HttpServer {
  const { settings, source, metrics, query, clock, onFault } = options;
  const { host, port, publicUrl, token } = settings;

  const currentHealth = shared(clock, async () => judge(await source.facts(), clock.now()));
  const status = shared(clock, async () => json(200, statusDocument(await currentHealth())));
  const scrape = shared(clock, async () => metrics.render(await currentHealth()));

  const streams = new ChangeStreams({ query, clock, headers: safeguards, onFault });
  const routesOfPages = pageRoutes({ ...options, currentHealth: currentHealth, mayAct: token !== null });
  const pages: Readonly<Record<string, Handle>> = {
    '/metrics': async () => answer(metrics.contentType, await scrape()),
    '/api/status': status,
    '/api/changes': safeguarded(changesApi(query, clock, streams)),
    '/api/vendors': safeguarded(vendorsApi(query, clock)),
    '/api/vendors/:account/:id': safeguarded(vendorApi(query)),
    '/readyz': () => {
      const document = readinessDocument(source.ability());
      return Promise.resolve(json(document.ready ? 200 : 503, document));
    },
    ...Object.fromEntries(Object.entries(routesOfPages).map(([path, handle]) => [path, safeguarded(handle)])),
  };

  const alive = guarded({ host, publicUrl, token: null }, () =>
    Promise.resolve(answer('text/plain; charset=utf-8', 'alive\n')),
  );
  return new HttpServer({
    name: 'the admin page',
    host,
    port,
    clock,
    onFault,
    onStop: () => streams.stop(),
    routes: [
      { method: 'GET', path: '/healthz', handle: alive },
      ...Object.entries(pages).map(([path, page]) => ({
        method: 'GET' as const,
        path,
        handle: guarded({ host, publicUrl, token }, page),
      })),
      ...actionRoutes(options.actions, token !== null, (handle) =>
        guarded({ host, publicUrl, token }, ownPagesOnly(publicUrl, safeguarded(handle))),
      ),
    ],
  });
}

const policy = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'self'",
  'frame-ancestors': "'none'",
};

const safeguards = {
  'content-security-policy': Object.entries(policy)
    .map(([kind, source]) => `${kind} ${source}`)
    .join('; '),
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

/** The answer with the safety headers of the admin server. */
function safeguarded(handle: ApiHandle): Handle {
  return async (request) => {
    const found = await handle(request);
    return typeof found === 'function' ? found : { ...found, headers: { ...safeguards, ...found.headers } };
  };
}

function answer(type: string, body: string, status = 200): HttpAnswer {
  return { status, headers: { ...safeguards, 'content-type': type }, body };
}

function json(status: number, document: unknown): HttpAnswer {
  return answer('application/json; charset=utf-8', `${JSON.stringify(document, null, 2)}\n`, status);
}
