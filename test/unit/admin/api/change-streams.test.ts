import { request, type IncomingMessage } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { adminOverMirror } from '../../../support/admin/admin-over-mirror.ts';
import { vendor, version } from '../../../support/mirror-file.ts';
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
  it('tells what is there, then what comes', async () => {
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

  it('goes on after Last-Event-ID, whatever the address says', async () => {
    const admin = await adminOverMirror({ vendor_versions: [1, 2, 3, 4].map((id) => version(id, [])) });
    const first = await Reader.open(url(admin));
    await first.until(({ seqs }) => seqs.length === 4);
    const third = first.events.find((event) => event.includes('"seq":3'))!;
    first.leave();
    const second = await Reader.open(url(admin, '?since=1'), { 'last-event-id': /^id: (.*)$/m.exec(third)?.[1] });
    await second.until(({ seqs }) => seqs.length === 1);
    expect(second.seqs).toEqual([4]);
  });

  it('moves the cursor past what the filter keeps back', async () => {
    const admin = await adminOverMirror({ vendor_versions: [version(1, []), version(2, []), version(2, [])] });
    const reader = await Reader.open(url(admin, '?account=6BApk&vendorid=1'));
    await reader.until(({ lastId }) => lastId.endsWith(':3'));
    expect(reader.seqs).toEqual([1]);
  });

  it('refuses a cursor that leads nowhere with 410, and says in a stream where it fell behind what was removed', async () => {
    const admin = await adminOverMirror({ vendors: [vendor(1)], vendor_versions: [version(1, [])] });
    const reader = await Reader.open(url(admin), { 'last-event-id': '0123456789abcdef:1' });
    expect(reader.response.statusCode).toBe(410);
  });

  it('gives signs of life', async () => {
    const clock = virtualClock();
    const admin = await adminOverMirror({}, clock);
    const reader = await Reader.open(url(admin));
    for (let second = 0; second < 30; second += 1) {
      await clock.waiting();
      await clock.advance(500);
    }
    await reader.until(({ events }) => events.includes(': alive'));
  });

  it('has no more than sixteen readers, and takes another when one has left', async () => {
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
