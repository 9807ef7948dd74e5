/** The pages for people, by path: the first one, the search, one for each vendor, and one for every path where there is none. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../domain/clock.ts';
import type { Health } from '../../health/judge.ts';
import type { HttpAnswer, HttpRequest } from '../../http/server.ts';
import type { Figures } from '../../store/reports/figures.ts';
import type { AccountOwed } from '../../store/reports/owed.ts';
import { accountIds } from '../../store/reports/known-accounts.ts';
import { isVendorId, type VendorFilter, type VendorList } from '../../store/reports/vendor-list.ts';
import type { Query } from '../../store/sql/statement.ts';
import type { ApiHandle } from '../api/answers.ts';
import { accountsPage } from './accounts-page.ts';
import { FiguresCache, shared } from './figures-cache.ts';
import { withCommands, type Page } from './html.ts';
import { chosenAccount, noAccountPage, noSuchPage, overview } from './overview.ts';
import {
  findVendors,
  searchResults,
  browserPage,
  chosenIn,
  searchIn,
  vendorsOnPage,
  type Chosen,
} from './vendor-browser.ts';
import { noVendorPage, vendorHistory, vendorPageOf } from './vendor-timeline.ts';

export interface PageOptions {
  /** Shared by all who look. */
  readonly currentHealth: () => Promise<Health>;
  readonly figures: (accountId: string) => Promise<Figures>;
  readonly owed: () => Promise<readonly AccountOwed[]>;
  readonly browse: (filter: VendorFilter) => Promise<VendorList>;
  readonly query: Query;
  readonly clock: Clock;
  /** Whether people may ask the daemon to do something. */
  readonly mayAct: boolean;
  readonly assetFolder: string;
  /** The option with which commands find the settings of this daemon; empty where they need none. */
  readonly settingsOption: string;
  readonly onFault: (error: unknown) => void;
}

const htmlType = 'text/html; charset=utf-8';

/** Vendors that are shown below the search box. */
const inBox = 12;

/** Answers without the headers that all answers of the admin server have. */
export function pageRoutes(options: PageOptions): Readonly<Record<string, ApiHandle>> {
  const { query, clock, assetFolder, settingsOption } = options;
  const overviews = sharedOverviews(options);
  const listed = sharedLists(options);
  const answerFor = (account: string | undefined, found: Page | undefined, request: HttpRequest): HttpAnswer =>
    found ? pageAnswer(found, request) : pageAnswer(noAccountPage(account ?? '', clock.now()), request, 404);
  return {
    '/': async (request) => {
      const account = request.query.get('account') ?? undefined;
      return answerFor(account, await overviews(account), request);
    },
    '/search': async (request) => {
      const root = /^(\.\.?\/)+$/.exec(request.query.get('root') ?? '')?.[0] ?? './';
      const wanted = searchIn(request.query);
      const found =
        wanted === undefined
          ? undefined
          : await findVendors(query, clock, { wanted, limit: inBox, signal: request.signal });
      return { status: 200, headers: { 'content-type': htmlType }, body: found ? searchResults(found, root).text : '' };
    },
    '/vendors': async (request) => {
      const chosen = chosenIn(request.query);
      return answerFor(chosen.account, await listed(chosen), request);
    },
    '/vendors/:account/:id': async (request) => {
      const { account = '', id = '' } = request.params;
      const known = isVendorId(id) ? await vendorHistory(query, account, Number(id)) : undefined;
      if (!known) return pageAnswer(noVendorPage(clock.now()), request, 404);
      return pageAnswer(withCommands(vendorPageOf(known, clock.now()), settingsOption), request);
    },
    '*': (request) => Promise.resolve(pageAnswer(noSuchPage(request.path, clock.now()), request, 404)),
    ...assets(assetFolder),
  };
}

/** The first page, of all accounts or of a chosen one, made once for all readers; undefined where there is no such account. */
function sharedOverviews(options: PageOptions): (account: string | undefined) => Promise<Page | undefined> {
  const { currentHealth: examine, figures, clock, mayAct, settingsOption, onFault } = options;
  const cache = new FiguresCache(clock, figures, onFault);
  const sums = new FiguresCache(clock, options.owed, onFault);
  const pages = new Map<string, () => Promise<Page>>();
  const allAccounts = shared(clock, async () =>
    withCommands(accountsPage(await examine(), await sums.of('')), settingsOption),
  );
  return async (wanted) => {
    const chosen = chosenAccount(await examine(), wanted);
    if (chosen === 'all') return allAccounts();
    if (chosen === undefined && wanted !== undefined) return undefined;
    const account = chosen?.facts.account ?? '';
    let page = pages.get(account);
    if (!page) {
      page = shared(clock, async () => {
        const known = account === '' ? null : await cache.of(account);
        return withCommands(overview(await examine(), { account, figures: known, mayAct }), settingsOption);
      });
      pages.set(account, page);
    }
    return page();
  };
}

/** How many lists are shared at a time. */
const maxLists = 20;

/** Pages of the list of vendors, each made once for all readers; undefined where there is no such account. */
function sharedLists({ browse, query, clock }: PageOptions): (chosen: Chosen) => Promise<Page | undefined> {
  const lists = new Map<string, () => Promise<Page>>();
  return async (chosen) => {
    const { account, search, sort, page } = chosen;
    const accounts = await query(accountIds);
    if (account !== undefined && !accounts.includes(account)) return undefined;
    const name = JSON.stringify([account, search, sort, page]);
    const list =
      lists.get(name) ??
      shared(clock, async () => {
        const filter = { account, search, sort, limit: vendorsOnPage, offset: (page - 1) * vendorsOnPage };
        return browserPage(await browse(filter), chosen, accounts.length > 1, clock.now());
      });
    lists.delete(name);
    lists.set(name, list);
    const [oldest] = lists.keys();
    if (lists.size > maxLists && oldest !== undefined) lists.delete(oldest);
    return list();
  };
}

/** The page, or, where the browser has it already, nothing but that. */
function pageAnswer(
  { body, version }: Page,
  { headers }: Pick<HttpRequest, 'headers'>,
  status: 200 | 404 = 200,
): HttpAnswer {
  const etag = `"${version}"`;
  if (headers['if-none-match'] === etag) return { status: 304, headers: { etag } };
  return { status, headers: { 'content-type': htmlType, etag }, body };
}

const types = {
  'page.css': 'text/css; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;

/** What pages load besides: style, script and mark, compiled into one folder. Each file is read once. */
function assets(folder: string): Readonly<Record<string, ApiHandle>> {
  return Object.fromEntries(
    Object.entries(types).map(([name, type]): [string, ApiHandle] => {
      let text: Promise<string> | undefined;
      const read = (): Promise<string> => (text ??= readFile(join(folder, name), 'utf8'));
      return [`/${name}`, async () => ({ status: 200, headers: { 'content-type': type }, body: await read() })];
    }),
  );
}
