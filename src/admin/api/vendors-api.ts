/**
 * `/api/vendors` and `/api/vendors/{account}/{id}`: what the mirror holds, page by page, and one vendor with its timeline.
 *
 * Lists are ordered by account and id, and read 250 rows in each turn of the event loop. A search looks at no more than 50,000 vendors for
 * one answer, and says where to continue. So even in a very large mirror, no request delays a delivery by more than one turn.
 */
import type { Clock } from '../../domain/clock.ts';
import { limits } from '../../domain/limits.ts';
import { presences } from '../../domain/presence.ts';
import { withValues, readTimeline } from '../../store/reports/change-feed.ts';
import { latestDeliveries } from '../../store/deliveries.ts';
import { storedDetails, vendorDocument } from '../../store/reports/vendor-detail.ts';
import { inState, vendorPage } from '../../store/reports/vendor-list.ts';
import type { VendorKey } from '../../store/sql/schema.ts';
import type { Query } from '../../store/sql/statement.ts';
import { answeringBadRequests, BadRequest, jsonAnswer, type ApiHandle, Parameters } from './answers.ts';

/** Of a vendor's deliveries the latest are shown. */
const shownDeliveries = 50;

const states = ['active', 'deleted', 'archived', 'all'] as const;

/** `?search=&account=&state=&presence=&limit=&after=`, by account and number. `after` is the `next` of the page before. */
export function vendorsApi(query: Query, clock: Pick<Clock, 'yield'>): ApiHandle {
  return answeringBadRequests(async (request) => {
    const asked = new Parameters(request.query, ['search', 'account', 'state', 'presence', 'limit', 'after']);
    const after = asked.text('after');
    const filter = {
      account: asked.text('account'),
      search: asked.text('search'),
      ...inState(asked.word('state', states), asked.word('presence', presences)),
      limit: asked.whole('limit', limits.apiPage) ?? limits.apiUsualPage,
      after: after === undefined ? undefined : keyIn(after),
    };
    const { vendors, next, total } = await vendorPage(query, clock, filter, request.signal);
    return jsonAnswer({ vendors, total, next: next && `${next.account_id}:${next.vendorid}` });
  });
}

function keyIn(text: string): VendorKey {
  const [, account_id, vendorid] = /^([A-Za-z0-9_-]{1,64}):(\d{1,16})$/.exec(text) ?? [];
  if (account_id === undefined) throw new BadRequest('after should be the next of the page before.');
  return { account_id, vendorid: Number(vendorid) };
}

/** One vendor: what it is, its latest deliveries, and its timeline by `?limit=&before=`, latest change first. */
export function vendorApi(query: Query): ApiHandle {
  return answeringBadRequests(async (request) => {
    const asked = new Parameters(request.query, ['limit', 'before']);
    const limit = asked.whole('limit', limits.apiPage) ?? limits.apiUsualPage;
    const before = asked.whole('before', Number.MAX_SAFE_INTEGER);
    const { account = '', id = '' } = request.params;
    const vendorid = /^\d{1,16}$/.test(id) ? Number(id) : 0;
    const found = await query(async (snapshot) => {
      const [detail] = await storedDetails(snapshot, vendorid, account);
      if (!detail) return undefined;
      const { timeline, older } = await readTimeline(snapshot, { account_id: account, vendorid }, { before, limit });
      const deliveries = await latestDeliveries(snapshot, { account, vendorid, limit: shownDeliveries });
      return { ...vendorDocument(detail), timeline: await withValues(snapshot, timeline), older, deliveries };
    });
    if (found) return jsonAnswer(found);
    return jsonAnswer({ error: 'unknown_vendor', message: 'The mirror holds no such vendor.' }, 404);
  });
}
