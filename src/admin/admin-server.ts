/**
 * The operator's own HTTP server: health, metrics, status, vendors and the pages for people; who may use it is checked first.
 *
 * Status is computed once for all requests, and reused for one second or for ten times as long as the computation took, whichever is longer.
 * Facts are read of one account in each turn of the event loop; the judgement and the document of 1,000 accounts take about 20 ms and 25 ms.
 *
 * A wrong token is answered late: each waits a second longer than the wrong one before it that still waits, at most ten. A right one never
 * waits. So that guesses hold few connections, of more than 64 the one that has waited longest is answered. A request without any is no
 * guess: browsers send one before they ask.
 */
import { type Clock, sleptThrough } from '../domain/clock.ts';
import { withOptionInJson } from '../domain/commands.ts';
import { judge, type HealthSource } from '../health/judge.ts';
import { readinessDocument, statusDocument } from '../health/status-document.ts';
import { HttpServer, type HttpAnswer, type HttpRequest } from '../http/server.ts';
import { isLoopback, type Settings } from '../settings/parse.ts';
import type { Figures } from '../store/reports/figures.ts';
import type { AccountOwed } from '../store/reports/owed.ts';
import type { VendorFilter, VendorList } from '../store/reports/vendor-list.ts';
import type { Query } from '../store/sql/statement.ts';
import { actionRoutes, type Actions } from './api/actions-api.ts';
import { answeringTrouble, jsonAnswer, type ApiHandle } from './api/answers.ts';
import { changesApi, ChangeStreams } from './api/changes-api.ts';
import { vendorApi, vendorsApi } from './api/vendors-api.ts';
import type { Metrics } from './metrics.ts';
import { shared } from './page/figures-cache.ts';
import { pageRoutes } from './page/page-routes.ts';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../domain/secret.ts';

export interface AdminOptions {
  readonly settings: Settings['admin'];
  /** The option with which commands find the settings of this daemon; empty where they need none. */
  readonly settingsOption: string;
  readonly source: HealthSource;
  /** Works out the figures of an account. @throws Error where it cannot. */
  readonly figures: (accountId: string) => Promise<Figures>;
  /** Works out what is owed in every account. @throws Error where it cannot. */
  readonly owed: () => Promise<readonly AccountOwed[]>;
  /** Lists vendors in any order. @throws Error where it cannot. */
  readonly browse: (filter: VendorFilter) => Promise<VendorList>;
  readonly actions: Actions;
  readonly metrics: Metrics;
  readonly query: Query;
  readonly clock: Clock;
  /** The folder that holds what the pages load in the browser. */
  readonly assetFolder: string;
  /** Called when a page could not be made; the caller is told why where the mirror cannot be asked, and else gets a bare 500. */
  readonly onFault: (error: unknown) => void;
  readonly onGuesses: TokenGuardOptions['onGuesses'];
}

/**
 * `/healthz`, `/readyz`, `/metrics`, `/api/status`, `/api/changes`, `/api/vendors`, `/api/actions` and the pages. With a token set, all but `/healthz` ask for it: what starts and
 * stops the process may know that it is alive, and nothing else. Starting throws `port_taken`.
 */
export function createAdminServer(options: AdminOptions): HttpServer {
  const { settings, settingsOption, source, metrics, query, clock, onFault, onGuesses } = options;
  const { host, port, publicUrl, token } = settings;

  const currentHealth = shared(clock, async () => judge(await source.facts(), clock.now()));
  const status = shared(clock, async () => {
    const answer = jsonAnswer(statusDocument(await currentHealth()));
    return { ...answer, body: withOptionInJson(settingsOption, answer.body) };
  });
  const scrape = shared(clock, async () => metrics.render(await currentHealth()));

  const streams = new ChangeStreams({ query, clock, headers: safeguards, onFault });
  const pages: Readonly<Record<string, ApiHandle>> = {
    '/metrics': async () => textAnswer(metrics.contentType, await scrape()),
    '/api/status': status,
    '/api/changes': changesApi(query, clock, streams),
    '/api/vendors': vendorsApi(query, clock),
    '/api/vendors/:account/:id': vendorApi(query),
    '/readyz': () => {
      const document = readinessDocument(source.ability());
      return Promise.resolve(jsonAnswer(document, document.ready ? 200 : 503));
    },
    ...pageRoutes({ ...options, currentHealth, mayAct: token !== null }),
    '/api/*': ({ path }) =>
      Promise.resolve(jsonAnswer({ error: 'unknown_path', message: `There is no ${path}.` }, 404)),
  };

  const onWrongToken = (): void => metrics.wrongToken();
  const tokens = new TokenGuard({ token, clock, onWrongToken, onGuesses });
  const rules = { host, publicUrl, admits: (request: HttpRequest) => tokens.admits(request) };
  const alive = safeguarded(() => Promise.resolve(textAnswer('text/plain; charset=utf-8', 'alive\n')));
  return new HttpServer({
    name: 'the admin page',
    host,
    port,
    portSetting: 'admin.port in the settings; of the built-in sandbox, `vendor-mirror serve --port N`',
    clock,
    onFault,
    onStop() {
      streams.stop();
      tokens.stop();
    },
    routes: [
      {
        method: 'GET',
        path: '/healthz',
        handle: guarded({ ...rules, admits: () => Promise.resolve(true) }, alive),
      },
      ...Object.entries(pages).map(([path, page]) => ({
        method: 'GET' as const,
        path,
        handle: guarded(rules, safeguarded(answeringTrouble(page, settingsOption, onFault))),
      })),
      ...actionRoutes(options.actions, token !== null, (handle) =>
        guarded(rules, ownPagesOnly(publicUrl, safeguarded(answeringTrouble(handle, settingsOption, onFault)))),
      ),
    ],
  });
}

function textAnswer(type: string, body: string): HttpAnswer {
  return { status: 200, headers: { 'content-type': type }, body };
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
function safeguarded(handle: ApiHandle): ApiHandle {
  return async (request) => {
    const found = await handle(request);
    return typeof found === 'function' ? found : { ...found, headers: { ...safeguards, ...found.headers } };
  };
}

interface GuardRules {
  readonly host: string;
  /** `admin.publicUrl`, under which a proxy passes requests on; null where there is none. */
  readonly publicUrl: string | null;
  /** Whether the request has `admin.token`. */
  readonly admits: TokenGuard['admits'];
}

/**
 * Puts the refusals before a handler: 421 for a host name that is not this machine's (a page elsewhere whose name was rebound to our
 * address), 403 for requests made by pages of other sites, 401 without the token.
 */
function guarded(rules: GuardRules, handle: ApiHandle): ApiHandle {
  return async (request) => {
    if (!isOurName(request.headersDistinct['host'], rules)) return refusal(421);
    if (isForeignPage(request.headers)) return refusal(403);
    if (!(await rules.admits(request))) return refusal(401, { 'www-authenticate': challenge });
    return handle(request);
  };
}

/**
 * Puts a refusal before a handler that changes something: 403 for what a page of another site sends, a followed link or form included,
 * because a browser adds the password to them. Programs name no origin.
 */
function ownPagesOnly(publicUrl: string | null, handle: ApiHandle): ApiHandle {
  return async (request) => {
    const { origin, host = '', 'sec-fetch-site': site = 'none' } = request.headers;
    const own = [`http://${host}`, `https://${host}`, ...(publicUrl === null ? [] : [new URL(publicUrl).origin])];
    const isOwn = origin === undefined || own.includes(origin.toLowerCase());
    if (!isOwn || (site !== 'same-origin' && site !== 'none')) return refusal(403);
    return handle(request);
  };
}

const challenge = 'Basic realm="vendor-mirror", charset="UTF-8"';

/** What a person reads who meets a refusal in a browser or with curl; none says anything about the installation. */
const reasons = {
  401: 'admin.token is required: send it as a bearer token, or as the password of HTTP Basic.',
  403: 'Requests by pages of other sites are refused.',
  421: 'This host name is not allowed. Behind a proxy, set admin.publicUrl to the address that it serves.',
} as const;

function refusal(status: keyof typeof reasons, headers: HttpAnswer['headers'] = {}): HttpAnswer {
  const plain = { 'cache-control': 'no-store', 'content-type': 'text/plain; charset=utf-8' };
  return { status, headers: { ...plain, ...headers }, body: `${reasons[status]}\n` };
}

/** On an address beyond this machine any name is accepted: the token is required there, and no rebound page knows it. */
function isOurName(hosts: readonly string[] | undefined, { host, publicUrl }: GuardRules): boolean {
  const [sent, ...others] = hosts ?? [];
  const name = /^(\[[0-9a-f:.]+\]|[\w.-]+)(?::\d+)?$/i.exec(sent ?? '')?.[1]?.toLowerCase();
  if (name === undefined || others.length > 0) return false;
  const isPublic = publicUrl !== null && new URL(publicUrl).hostname === name;
  return isLoopback(name) || isPublic || !isLoopback(host);
}

/** Following a link to the dashboard is no harm: it shows, does nothing, and cannot be framed. */
function isForeignPage(headers: HttpRequest['headers']): boolean {
  const site = headers['sec-fetch-site'] ?? 'none';
  const followed = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return site !== 'same-origin' && site !== 'none' && !followed;
}

const [delay, maxDelay, reportEvery] = [1_000, 10_000, 3_600_000];

/** Wrong tokens whose answers wait at once. */
const maxWaiting = 64;

export interface TokenGuardOptions {
  /** Null gives access to everybody who reaches the port, which is then on this machine only. */
  readonly token: Secret | null;
  readonly clock: Clock;
  readonly onWrongToken: () => void;
  /** Called for the first wrong token, then at most once an hour, with how many came since the call before. */
  readonly onGuesses: (count: number) => void;
}

export class TokenGuard {
  readonly #options: TokenGuardOptions;
  readonly #right: Buffer | undefined;
  readonly #stopping = new AbortController();
  /** Each ends a wait; the longest first. */
  readonly #waiting = new Set<AbortController>();
  /** When the last wrong token that waits is answered, by the clock that never runs backwards. */
  #lastAnswer = -Infinity;
  #reportedAt = -Infinity;
  #unreported = 0;

  constructor(options: TokenGuardOptions) {
    this.#options = options;
    this.#right = options.token === null ? undefined : digest(options.token.reveal());
  }

  /** Whether the request may pass. Resolves late where its token is wrong. */
  async admits({ headers, signal }: Pick<HttpRequest, 'headers' | 'signal'>): Promise<boolean> {
    if (this.#right === undefined) return true;
    const sent = credential(headers.authorization ?? '');
    if (sent === '') return false;
    if (timingSafeEqual(digest(sent), this.#right)) return true;
    const { clock, onWrongToken } = this.#options;
    onWrongToken();
    this.#report(clock.monotonic());
    const early = new AbortController();
    this.#waiting.add(early);
    const [longest] = this.#waiting;
    if (this.#waiting.size > maxWaiting) longest?.abort();
    const ends = AbortSignal.any([signal, this.#stopping.signal, early.signal]);
    await sleptThrough(clock, this.#wait(clock.monotonic()), ends);
    this.#waiting.delete(early);
    return false;
  }

  /** Answers those that wait. */
  stop(): void {
    this.#stopping.abort(new Error('Stopping.'));
  }

  #wait(now: number): number {
    this.#lastAnswer = Math.min(Math.max(now, this.#lastAnswer) + delay, now + maxDelay);
    return this.#lastAnswer - now;
  }

  #report(now: number): void {
    this.#unreported += 1;
    if (now - this.#reportedAt < reportEvery) return;
    this.#options.onGuesses(this.#unreported);
    this.#reportedAt = now;
    this.#unreported = 0;
  }
}

function credential(authorization: string): string {
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+)$/i.exec(authorization) ?? [];
  if (scheme.toLowerCase() === 'bearer') return value;
  return Buffer.from(value, 'base64')
    .toString('utf8')
    .replace(/^[^:]*:/, '');
}

/** Digests are of equal length and say nothing about where two texts differ. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
