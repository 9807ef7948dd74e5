import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { Driver } from '../../../../src/store/sqlite/driver-package.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ChangeStreams } from '../../../../src/admin/api/changes-api.ts';
import type { Query } from '../../../../src/store/sql/statement.ts';
import { adminOverMirror } from '../../../support/admin/admin-over-mirror.ts';
import { readMirror, temporaryFolder, vendor, version, writeMirror } from '../../../support/mirror-file.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

/** A reader of a stream, who can leave and come back. */
class Reader {
  readonly response: IncomingMessage;
  #text = '';
  #arrived: (() => void) | undefined;
  ended = false;

  private constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8').on('data', (text: string) => {
      this.#text += text;
      this.#arrived?.();
    });
    response.on('close', () => {
      this.ended = true;
      this.#arrived?.();
    });
    response.on('error', () => undefined);
  }

  static open(url: string, headers = {}): Promise<Reader> {
    return new Promise((resolve, reject) => {
      const asked = request(url, { headers: { accept: 'text/event-stream', ...headers }, agent: false }, (response) =>
        resolve(new Reader(response)),
      );
      asked.on('error', reject).end();
      onTestFinished(() => void asked.destroy());
    });
  }

  /** Whole events, as they came. */
  get events(): string[] {
    return this.#text.split('\n\n').slice(0, -1);
  }

  get seqs(): number[] {
    return this.events
      .filter((event) => event.startsWith('id: ') && event.includes('\ndata: '))
      .map((event) => (JSON.parse(event.split('\ndata: ')[1]!) as { seq: number }).seq);
  }

  get lastId(): string {
    return (
      this.events
        .map((event) => /^id: (.*)$/m.exec(event)?.[1])
        .filter((id) => id !== undefined)
        .at(-1) ?? ''
    );
  }

  async until(isSo: (reader: Reader) => boolean): Promise<void> {
    while (!isSo(this)) await new Promise<void>((resolve) => (this.#arrived = resolve));
  }

  leave(): void {
    this.response.destroy();
  }
}

const url = ({ url }: { url: string }, query = ''): string => `${url}/api/changes${query}`;

describe('the change feed as server-sent events', () => {
  it('sends existing changes, then new ones', async () => {
    const clock = virtualClock();
    const admin = await adminOverMirror({ vendor_versions: [version(1, []), version(2, [])] }, clock);
    const reader = await Reader.open(url(admin));
    expect(reader.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
    });
    await reader.until(({ seqs }) => seqs.length === 2);
    await admin.fill({ vendor_versions: [version(1, ['note'])] });
    await clock.waiting();
    await clock.advance(500);
    await reader.until(({ seqs }) => seqs.length === 3);
    expect(reader.seqs).toEqual([1, 2, 3]);
    expect(reader.events[0]).toBe('retry: 2000');
  });

  it('continues after Last-Event-ID, whatever the address says', async () => {
    const admin = await adminOverMirror({ vendor_versions: [1, 2, 3, 4].map((id) => version(id, [])) });
    const first = await Reader.open(url(admin));
    await first.until(({ seqs }) => seqs.length === 4);
    const third = first.events.find((event) => event.includes('"seq":3'))!;
    first.leave();
    const second = await Reader.open(url(admin, '?since=latest'), { 'last-event-id': /^id: (.*)$/m.exec(third)?.[1] });
    await second.until(({ seqs }) => seqs.length === 1);
    expect(second.seqs).toEqual([4]);
  });

  it('moves the cursor past changes that the filter leaves out', async () => {
    const admin = await adminOverMirror({ vendor_versions: [version(1, []), version(2, []), version(2, [])] });
    const reader = await Reader.open(url(admin, '?account=6BApk&vendorid=1'));
    await reader.until(({ lastId }) => lastId.endsWith(':3'));
    expect(reader.seqs).toEqual([1]);
  });

  it('refuses a limit, which a stream does not have', async () => {
    const admin = await adminOverMirror({ vendor_versions: [version(1, [])] });
    expect((await Reader.open(url(admin, '?limit=1'))).response.statusCode).toBe(400);
  });

  it('refuses an invalid cursor with 410', async () => {
    const admin = await adminOverMirror({ vendors: [vendor(1)], vendor_versions: [version(1, [])] });
    const reader = await Reader.open(url(admin), { 'last-event-id': '0123456789abcdef:1' });
    expect(reader.response.statusCode).toBe(410);
  });

  it('ends with the event gone if unread changes were removed, and then refuses the cursor', async () => {
    const clock = virtualClock();
    const admin = await adminOverMirror({ vendor_versions: [version(1, [])] }, clock);
    const reader = await Reader.open(url(admin));
    await reader.until(({ seqs }) => seqs.length === 1);
    const behind = reader.lastId;
    await clock.waiting();
    await admin.fill({ vendor_versions: [version(1, ['note']), version(1, ['note']), version(1, ['phone'])] });
    const other = new Driver(admin.path);
    other.exec('DELETE FROM _vendor_versions WHERE seq <= 3');
    other.close();
    await clock.advance(500);
    await reader.until(({ ended }) => ended);
    expect(reader.seqs).toEqual([1]);
    const [, data = ''] = reader.events.at(-1)?.split('event: gone\ndata: ') ?? [];
    const gone = JSON.parse(data) as { oldest: string; latest: string };
    expect(gone).toMatchObject({ error: 'history_gone', reason: 'removed' });
    expect([gone.oldest, gone.latest].map((cursor) => cursor.split(':')[1])).toEqual(['3', '4']);

    const again = await Reader.open(url(admin), { 'last-event-id': behind });
    expect(again.response.statusCode).toBe(410);
    const anew = await Reader.open(url(admin), { 'last-event-id': gone.oldest });
    await anew.until(({ seqs }) => seqs.length === 1);
    expect(anew.seqs).toEqual([4]);
  });

  it('sends a comment now and then to keep the connection open', async () => {
    const clock = virtualClock();
    const admin = await adminOverMirror({}, clock);
    const reader = await Reader.open(url(admin));
    for (let second = 0; second < 30; second += 1) {
      await clock.waiting();
      await clock.advance(500);
    }
    await reader.until(({ events }) => events.includes(': alive'));
  });

  it('has at most sixteen readers, and accepts another when one has left', async () => {
    const admin = await adminOverMirror({});
    const readers = await Promise.all(Array.from({ length: 16 }, () => Reader.open(url(admin))));
    expect(readers.map(({ response }) => response.statusCode)).toEqual(Array(16).fill(200));
    const refused = await Reader.open(url(admin));
    expect([refused.response.statusCode, refused.response.headers['retry-after']]).toEqual([503, '5']);
    readers[0]?.leave();
    for (;;) {
      const { response } = await Reader.open(url(admin));
      if (response.statusCode === 200) break;
    }
  });

  it('ends with the server, at once', async () => {
    const clock = virtualClock();
    const admin = await adminOverMirror({}, clock);
    const reader = await Reader.open(url(admin));
    await reader.until(({ events }) => events.length > 0);
    // Time stands still: nothing waits for the grace of a stop.
    await admin.stop();
    await reader.until(({ ended }) => ended);
  });
});

/** A connection whose other end reads when it is told to. */
class Connection extends Writable {
  text = '';
  #unread: (() => void) | undefined;
  #reads = false;

  writeHead(): this {
    return this;
  }

  read(): void {
    this.#reads = true;
    this.#unread?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, taken: () => void): void {
    this.text += chunk.toString();
    this.#unread = taken;
    if (this.#reads) setImmediate(taken);
  }

  asResponse(): ServerResponse {
    return this as unknown as ServerResponse;
  }
}

describe('a reader that does not keep up', () => {
  const count = 500;

  /** A stream of many large changes. */
  async function stream() {
    const path = join(temporaryFolder(), 'vendors.db');
    const clock = virtualClock();
    const note = (nth: number): string => JSON.stringify({ note: `${nth} ${'x'.repeat(20_000)}` });
    const versions = Array.from({ length: count }, (_, nth) =>
      version(1, nth === 0 ? [] : ['note'], { raw: note(nth), valid_to: '2026-11-20 09:00:00.000' }),
    );
    await writeMirror(path, clock, { vendor_versions: versions });
    const mirror = readMirror(path, clock);
    const asked = { turns: 0 };
    const query: Query = (report) => {
      asked.turns += 1;
      return mirror.read(() => report(mirror.connection));
    };
    const faults: unknown[] = [];
    const streams = new ChangeStreams({ query, clock, headers: {}, onFault: (error) => faults.push(error) });
    const connection = new Connection();
    const answer = streams.open({});
    if (typeof answer !== 'function') throw new Error('The stream was refused.');
    answer(connection.asResponse());
    return { asked, clock, connection, faults, streams };
  }

  it('is waited for with no more than one change unread, and cut after 30 seconds', async () => {
    const { asked, clock, connection, faults, streams } = await stream();
    await clock.waiting();
    const { turns } = asked;
    expect(connection.writableLength).toBeLessThan(2 * connection.writableHighWaterMark + 50_000);
    await clock.advance(29_999);
    expect([asked.turns, streams.count, connection.destroyed]).toEqual([turns, 1, false]);
    await clock.advance(1);
    expect([asked.turns, streams.count, connection.destroyed]).toEqual([turns, 0, true]);
    expect(faults).toEqual([]);
    expect(clock.pending()).toEqual([]);
  });

  it('gets everything, in order, where it reads again in time', async () => {
    const { clock, connection, streams } = await stream();
    await clock.waiting();
    await clock.advance(29_999);
    connection.read();
    while (!connection.text.includes(`:${count}\n`)) await new Promise((resolve) => setImmediate(resolve));
    const seqs = [...connection.text.matchAll(/^id: \w+:(\d+)\ndata: /gm)].map(([, seq]) => Number(seq));
    expect(seqs).toEqual(Array.from({ length: count }, (_, nth) => nth + 1));
    streams.stop();
  });
});
