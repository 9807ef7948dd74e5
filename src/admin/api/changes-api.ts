/**
 * `/api/changes`: the change feed, as one page of JSON, or as server-sent events that go on for as long as the reader stays.
 *
 * A stream remembers only its cursor, looks for changes twice a second, and waits for a slow reader. One that leaves 30 seconds' worth
 * unread is closed; it can resume without loss.
 */
import type { ServerResponse } from 'node:http';
import { jsonText } from '../../domain/steering.ts';
import { sleep, type Clock } from '../../domain/clock.ts';
import { asMirrorError } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import type { HttpAnswer, HttpRequest, HttpTakeover } from '../../http/server.ts';
import { changePage, currentCursor, type ChangePageFilter } from '../../store/reports/change-feed.ts';
import { cursorForm, isCursor, lastSeq, whyGone, type HistoryGone } from '../../store/reports/feed-cursor.ts';
import type { Query } from '../../store/sql/statement.ts';
import { answeringBadRequests, BadRequest, jsonAnswer, Parameters, type ApiHandle } from './answers.ts';

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
      vendorid: asked.whole('vendorid', Number.MAX_SAFE_INTEGER),
      limit: asked.whole('limit', limits.apiPage) ?? limits.apiPage,
      since: await startCursor(query, lastEventId(request) ?? asked.text('since')),
    };
    const found = await changePage(query, clock, filter, request.signal);
    if ('reason' in found) return jsonAnswer(goneDocument(found), 410);
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
    throw new BadRequest(
      `since should be latest, or ${cursorForm}. Without since, the feed begins at its first change.`,
    );
  return since;
}

function wantsStream({ method, headers: { accept = '' } }: HttpRequest): boolean {
  return method === 'GET' && accept.toLowerCase().includes('text/event-stream');
}

export interface ChangeStreamsOptions {
  readonly query: Query;
  readonly clock: Clock;
  /** Goes with every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called when a stream fails. */
  readonly onFault: (error: unknown) => void;
}

/** How long a reader may leave what was sent to it unread, in milliseconds, before its connection is cut. */
const maxUnread = 30_000;

/** Changes that are read at once. */
const atOnce = 50;

/** How soon a reader that lost its stream should reconnect, in milliseconds. */
const reconnectAfter = 2_000;

/** The change feed as server-sent events. Each stream keeps only its cursor: a slow reader takes no memory, and one that returns misses nothing. */
export class ChangeStreams {
  readonly #options: ChangeStreamsOptions;
  readonly #open = new Map<ServerResponse, AbortController>();
  #stopped = false;

  constructor(options: ChangeStreamsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#open.size;
  }

  /** A stream of what comes after `since`; or 503 where there are too many. */
  open(filter: Omit<ChangePageFilter, 'limit'>): HttpAnswer | HttpTakeover {
    if (this.#stopped || this.#open.size >= limits.streams) return { status: 503, headers: { 'retry-after': '5' } };
    return (response) => void this.#serve(response, filter);
  }

  /** Ends every stream, so that a stop waits for none. */
  stop(): void {
    this.#stopped = true;
    for (const [response, left] of this.#open) {
      left.abort(new Error('Stopping.'));
      response.end();
    }
  }

  async #serve(response: ServerResponse, filter: Omit<ChangePageFilter, 'limit'>): Promise<void> {
    const left = new AbortController();
    this.#open.set(response, left);
    response.once('close', () => {
      this.#open.delete(response);
      left.abort(new Error('The reader left.'));
    });
    response.on('error', () => undefined);
    try {
      response.writeHead(200, { ...this.#options.headers, 'content-type': 'text/event-stream; charset=utf-8' });
      await this.#send(response, `retry: ${reconnectAfter}\n\n`, left.signal);
      await this.#follow(response, filter, left.signal);
    } catch (error) {
      if (!left.signal.aborted) this.#options.onFault(asMirrorError(error));
    } finally {
      this.#open.delete(response);
      response.end();
    }
  }

  async #follow(response: ServerResponse, filter: Omit<ChangePageFilter, 'limit'>, signal: AbortSignal): Promise<void> {
    const { query, clock } = this.#options;
    let { since } = filter;
    for (;;) {
      const seen = await query(lastSeq);
      const page = await changePage(query, clock, { ...filter, since, limit: atOnce }, signal);
      if ('reason' in page) {
        await this.#send(response, `event: gone\ndata: ${jsonText(goneDocument(page))}\n\n`, signal);
        return;
      }
      for (const change of page.changes)
        await this.#send(response, `id: ${change.cursor}\ndata: ${jsonText(change)}\n\n`, signal);
      // An id without data moves the reader's cursor past what its filter kept from it.
      if (since !== page.cursor && page.changes.at(-1)?.cursor !== page.cursor)
        await this.#send(response, `id: ${page.cursor}\n\n`, signal);
      since = page.cursor;
      if (page.more) await clock.yield();
      else await this.#awaitMore(response, seen, signal);
    }
  }

  /** Resolves when there is a change after `seen`; sends a comment now and then. */
  async #awaitMore(response: ServerResponse, seen: number, signal: AbortSignal): Promise<void> {
    const { query, clock } = this.#options;
    let silent = 0;
    while ((await query(lastSeq)) === seen) {
      await sleep(clock, limits.streamDelay, signal);
      silent += limits.streamDelay;
      if (silent % limits.streamComment === 0) await this.#send(response, ': alive\n\n', signal);
    }
  }

  /** Sends a text, and waits if the reader does not keep up. */
  async #send(response: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (response.write(text)) return;
    await new Promise<void>((resolve, reject) => {
      const cancel = this.#options.clock.timer(maxUnread, () => response.destroy());
      const end = (): void => {
        cancel();
        response.off('drain', end);
        signal.removeEventListener('abort', end);
        if (signal.aborted) reject(signal.reason as Error);
        else resolve();
      };
      response.once('drain', end);
      signal.addEventListener('abort', end);
    });
  }
}

/** The answer to an invalid cursor, and the end of a stream whose unread changes were removed. */
function goneDocument(gone: HistoryGone): object {
  const { reason, oldest, latest } = gone;
  return {
    error: 'history_gone',
    message: `${whyGone(gone)} Take \`latest\`, read all vendors, and go on from it; or begin at \`oldest\`, the first of what is kept.`,
    reason,
    oldest,
    latest,
  };
}
