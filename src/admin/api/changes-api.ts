/** `/api/changes`: the change feed, as one page of JSON, or as server-sent events that go on for as long as the reader stays. */
import type { Clock } from '../../domain/clock.ts';
import { isCursor } from '../../store/feed/cursor-text.ts';
import type { HttpAnswer, HttpRequest } from '../../http/server.ts';
import { changePage, currentCursor } from '../../store/reports/change-page.ts';
import type { HistoryGone } from '../../store/feed/feed-cursor.ts';
import type { Query } from '../../store/sqlite/query.ts';
import { answeringBadRequests, BadRequest, jsonAnswer, type ApiHandle } from './answers.ts';
import type { ChangeStreams } from './change-streams.ts';
import { goneDocument } from './cursor-gone.ts';
import { Parameters } from './parameters.ts';

/** The largest page. */
const mostChanges = 200;

/**
 * `?since=&account=&vendorid=&limit=`. A reader that accepts `text/event-stream` gets a stream, which has no `limit` and goes on after its `Last-Event-ID`. A cursor
 * that leads nowhere is answered with 410 and where to begin.
 */
export function changesApi(query: Query, clock: Pick<Clock, 'yield'>, streams: ChangeStreams): ApiHandle {
  return answeringBadRequests(async (request) => {
    const isStream = wantsStream(request);
    const known = ['since', 'account', 'vendorid', ...(isStream ? [] : ['limit'])];
    const asked = new Parameters(request.query, known);
    const filter = {
      account: asked.text('account'),
      vendorid: asked.whole('vendorid', 1, Number.MAX_SAFE_INTEGER),
      limit: asked.whole('limit', 1, mostChanges) ?? mostChanges,
      since: await startCursor(query, lastEventId(request) ?? asked.text('since')),
    };
    const found = await changePage(query, clock, filter, request.signal);
    if ('reason' in found) return goneAnswer(found);
    return isStream ? streams.open(filter) : jsonAnswer(found);
  });
}

/** A reader that comes back says how far it was; what its address says is where it once began. */
function lastEventId({ headers }: HttpRequest): string | undefined {
  const sent = headers['last-event-id'];
  return (Array.isArray(sent) ? sent[0] : sent) || undefined;
}

async function startCursor(query: Query, since: string | undefined): Promise<string | undefined> {
  if (since === 'latest') return currentCursor(query);
  if (since !== undefined && !isCursor(since))
    throw new BadRequest('since should be a cursor of this feed, such as the cursor of an answer, or latest.');
  return since;
}

function wantsStream({ method, headers: { accept = '' } }: HttpRequest): boolean {
  return method === 'GET' && accept.toLowerCase().includes('text/event-stream');
}

function goneAnswer(gone: HistoryGone): HttpAnswer {
  return jsonAnswer(goneDocument(gone), 410);
}
