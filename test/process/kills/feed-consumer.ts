/**
 * A program that builds on the change feed: `feed-consumer.ts json|events ADDRESS FILE`. It stores each change together with its cursor, as a
 * line of a file, and begins after the last whole line: so it may be killed at any moment.
 */
import { appendFileSync, closeSync, existsSync, openSync, readFileSync, truncateSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as later } from 'node:timers/promises';

/** What a line holds besides. */
interface Stored {
  readonly cursor: string;
}

const [form = '', address = '', file = ''] = process.argv.slice(2);

/** Milliseconds until the next try if there is nothing new, or no answer. */
const pause = 20;

/** The cursor of the last whole line; a line that was cut off is taken away. */
function lastCursor(): string | undefined {
  if (!existsSync(file)) closeSync(openSync(file, 'a'));
  const stored = readFileSync(file);
  const whole = stored.lastIndexOf('\n') + 1;
  if (whole < stored.length) truncateSync(file, whole);
  const last = stored.subarray(0, whole).toString().trimEnd().split('\n').at(-1);
  return last ? (JSON.parse(last) as Stored).cursor : undefined;
}

function store(change: unknown): void {
  appendFileSync(file, `${JSON.stringify(change)}\n`);
}

function answer(url: string, headers: Record<string, string>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { headers, agent: false }, resolve).on('error', reject);
  });
}

/** One page after another, a few changes each. */
async function poll(): Promise<void> {
  const since = lastCursor();
  const response = await answer(`${address}?limit=7${since === undefined ? '' : `&since=${since}`}`, {});
  const body = await text(response);
  if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${body}`);
  const { changes, more } = JSON.parse(body) as { changes: Stored[]; more: boolean };
  changes.forEach(store);
  if (!more) await later(pause);
}

/** Server-sent events, for as long as they come. */
async function follow(): Promise<void> {
  const since = lastCursor();
  const response = await answer(address, {
    accept: 'text/event-stream',
    ...(since !== undefined && { 'last-event-id': since }),
  });
  if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${await text(response)}`);
  let unread = '';
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
    const events = (unread + chunk).split('\n\n');
    unread = events.pop() ?? '';
    for (const event of events) {
      if (event.includes('event: gone')) throw new Error(event);
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data !== undefined) store(JSON.parse(data));
    }
  }
}

for (;;) {
  try {
    await (form === 'json' ? poll() : follow());
  } catch (error) {
    // There is no answer while the daemon is dead; a refusal by the feed ends the consumer.
    if (!(error instanceof Error && 'code' in error)) throw error;
    await later(pause);
  }
}
