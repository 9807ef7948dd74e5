/** H4: requests that two parsers would read differently. What is not plain HTTP/1.1 is refused, and its connection ends. */
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { delivery, signed } from '../../support/deliveries/signed-delivery.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { isFine, pathOf, raw, request, send } from '../../support/deliveries/raw-requests.ts';

type Payload = readonly [title: string, bytes: (place: Testbed<'listener'>) => string | Buffer];

const { body } = signed(delivery);
const hex = body.length.toString(16);
/** The body of a genuine delivery in one chunk, and the last chunk. */
const chunks = `${hex}\r\n${body}\r\n0\r\n\r\n`;
const length = `content-length: ${body.length}`;
const chunked = 'transfer-encoding: chunked';

/** A delivery whose body is as long as it says, with more lines in its head. */
const withLines =
  (...lines: string[]) =>
  (place: Testbed<'listener'>) =>
    request(place, [...lines, length], body);

/** A delivery whose body's length these lines tell. */
const framed =
  (lines: readonly string[], text = body) =>
  (place: Testbed<'listener'>) =>
    request(place, lines, text);

/** A delivery in chunks like these. */
const inChunks = (text: string) => framed([chunked], text);

/** A valid delivery, except for its first line. */
const firstLine = (change: (path: string) => string) => (place: Testbed<'listener'>) => {
  const [, ...rest] = request(place, [length], body).split('\r\n');
  return [change(pathOf(place)), ...rest].join('\r\n');
};

const lengths: Payload[] = [
  ['a length and chunks', framed([length, chunked], chunks)],
  ['chunks and a length', framed([chunked, length], chunks)],
  ['chunks, and the length of a smuggled request', framed([chunked, 'content-length: 4'], `0\r\n\r\n${body}`)],
  ['two lengths', framed([length, 'content-length: 3'])],
  ['the same length twice', framed([length, length])],
  ['a list of lengths', framed([`${length}, ${body.length}`])],
  ['a length with a plus', framed([`content-length: +${body.length}`])],
  ['a negative length', framed(['content-length: -1'])],
  ['a hexadecimal length', framed([`content-length: 0x${hex}`])],
  ['a length with an exponent', framed(['content-length: 1e2'])],
  ['a length with a fraction', framed([`${length}.0`])],
  ['an empty length', framed(['content-length: '])],
  ['a length beyond all numbers', framed(['content-length: 99999999999999999999999'])],
  ['a length that ends in letters', framed([`${length}abc`])],
  ['a length with a gap', framed(['content-length: 1 0 0'])],
  ['a length after a vertical tab', framed([`content-length:\x0b${body.length}`])],
];

const encodings: Payload[] = [
  ['chunked, and then something else', framed(['transfer-encoding: chunked, identity'], chunks)],
  ['an unknown transfer encoding', framed(['transfer-encoding: xchunked'], chunks)],
  ['chunked after a vertical tab', framed(['transfer-encoding: \x0bchunked'], chunks)],
  ['chunked in quotes', framed(['transfer-encoding: "chunked"'], chunks)],
  ['two transfer encodings', framed([chunked, 'transfer-encoding: identity'], chunks)],
  ['chunked, with a space before the colon', framed(['transfer-encoding : chunked'], chunks)],
  ['chunked, folded', framed(['transfer-encoding:', ' chunked'], chunks)],
  ['identity, and a length', framed(['transfer-encoding: identity', length])],
];

const badChunks: Payload[] = [
  ['a chunk of no size', inChunks(`\r\n${body}\r\n0\r\n\r\n`)],
  ['a chunk whose size is no number', inChunks(`zz\r\n${body}\r\n0\r\n\r\n`)],
  ['a negative chunk', inChunks(`-${chunks}`)],
  ['a chunk whose size has a plus', inChunks(`+${chunks}`)],
  ['a chunk whose size has a prefix', inChunks(`0x${chunks}`)],
  ['a chunk whose size follows a space', inChunks(` ${chunks}`)],
  ['a chunk larger than any number', inChunks(`fffffffffffffffff\r\n${body}`)],
  ['a chunk of two gigabytes', inChunks(`7fffffff\r\n${body.padEnd(20_000)}`)],
  ['a chunk longer than its size', inChunks(`5\r\n${body}\r\n0\r\n\r\n`)],
  ['a chunk that no line break ends', inChunks(`${hex}\r\n${body}0\r\n\r\n`)],
  ['chunks whose lines end in LF alone', inChunks(chunks.replaceAll('\r\n', '\n'))],
  ['a chunk extension with a line feed', inChunks(`${hex};a\nb\r\n${body}\r\n0\r\n\r\n`)],
  ['a chunk extension with a NUL', inChunks(`${hex};a\0b\r\n${body}\r\n0\r\n\r\n`)],
  ['a chunk extension without end', inChunks(`${hex};${'a'.repeat(20_000)}`)],
  ['a trailer that is none', inChunks(`${hex}\r\n${body}\r\n0\r\nno trailer\r\n\r\n`)],
];

const headers: Payload[] = [
  ['a NUL in a value', withLines('x-a: b\0c')],
  ['a NUL in a name', withLines('x\0a: b')],
  ['another control character in a value', withLines('x-a: b\x01c')],
  ['a carriage return in a value', withLines('x-a: b\rx-c: d')],
  ['a folded header', withLines('x-a: b', ' x-c: d')],
  ['a header folded by a tab', withLines('x-a: b', '\tx-c: d')],
  ['a space before the first header', (place) => withLines()(place).replace('host: x', ' host: x')],
  ['a space before the colon', withLines('x-a : b')],
  ['a tab before the colon', withLines('x-a\t: b')],
  ['a name with a space', withLines('x a: b')],
  ['a name beyond ASCII', withLines('x-ä: b')],
  ['no name', withLines(': b')],
  ['no colon', withLines('x-a')],
  ['lines that end in LF alone', (place) => withLines()(place).replaceAll('\r\n', '\n')],
  ['lines that end in CR alone', (place) => withLines()(place).replaceAll('\r\n', '\r')],
  ['headers longer than 8 KB', withLines(`x-a: ${'b'.repeat(9_000)}`)],
  ['K52 a signature behind more headers than any proxy adds', (place) => behind(300, withLines()(place))],
  ['no host', (place) => withLines()(place).replace('host: x\r\n', '')],
  ['an expectation of something unknown', withLines('expect: a-miracle')],
];

const firstLines: Payload[] = [
  ['HTTP/0.9', firstLine((path) => `POST ${path}`)],
  ['HTTP/0.9, a GET', () => 'GET /healthz\r\n\r\n'],
  ['HTTP/9.9', firstLine((path) => `POST ${path} HTTP/9.9`)],
  ['HTTP/2.0 in the words of HTTP/1', firstLine((path) => `POST ${path} HTTP/2.0`)],
  ['a version in lower case', firstLine((path) => `POST ${path} http/1.1`)],
  ['something after the version', firstLine((path) => `POST ${path} HTTP/1.1 x`)],
  ['tabs between the words', firstLine((path) => `POST\t${path}\tHTTP/1.1`)],
  ['a space before the method', firstLine((path) => ` POST ${path} HTTP/1.1`)],
  ['a method in lower case', firstLine((path) => `post ${path} HTTP/1.1`)],
  ['a method that nobody knows', firstLine((path) => `FROB ${path} HTTP/1.1`)],
  ['a method with a NUL', firstLine((path) => `PO\0ST ${path} HTTP/1.1`)],
  ['TRACE', firstLine((path) => `TRACE ${path} HTTP/1.1`)],
  ['CONNECT to a host', firstLine(() => 'CONNECT 169.254.169.254:80 HTTP/1.1')],
  ['CONNECT to the path', firstLine((path) => `CONNECT ${path} HTTP/1.1`)],
  ['the asterisk form', firstLine(() => 'OPTIONS * HTTP/1.1')],
  ['a path with a NUL', firstLine((path) => `POST ${path}\0 HTTP/1.1`)],
  ['a path with a space', firstLine((path) => `POST ${path} x HTTP/1.1`)],
  ['a path with a backslash', firstLine((path) => `POST ${path.replaceAll('/', '\\')} HTTP/1.1`)],
];

const strangers: Payload[] = [
  ['the preface of HTTP/2', () => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x12\x04\0\0\0\0\0`],
  ['a hello of TLS', () => Buffer.from(`16030100c8010000c40303${'5a'.repeat(64)}20c02bc02f0100`, 'hex')],
  ['a greeting of SSH', () => 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['a greeting of SOCKS', () => Buffer.from([5, 1, 0])],
  ['the line of a proxy', (place) => `PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n${withLines()(place)}`],
  ['the bytes of a proxy', () => Buffer.from('0d0a0d0a000d0a515549540a2111000c7f0000017f00000100010002', 'hex')],
  ['an answer', () => 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
  ['words', () => 'hello\r\n\r\n'],
  ['zeros', () => Buffer.alloc(4_096)],
];

/** The signature behind so many headers. */
function behind(count: number, text: string): string {
  const many = Array.from({ length: count }, (_, index) => `x-${index}: 0\r\n`).join('');
  return text.replace('x-service-hmac', `${many}x-service-hmac`);
}

it.each([...lengths, ...encodings, ...badChunks, ...headers, ...firstLines, ...strangers])(
  'H4 %s is refused, the connection ends, nothing is stored, and the next delivery is accepted',
  async (_, bytes) => {
    const place = await testbed({ level: 'listener', clock: systemClock });
    const answers = await send(place, bytes(place));
    const statuses = [...answers.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
    expect(statuses.filter((status) => status < 400 || status > 499)).toEqual([]);
    expect([place.called.deliveries, await place.mirror.queue.countMarks('6BApk')]).toEqual([0, 0]);
    expect(await isFine(place)).toBe(true);
  },
);

describe('H4 plain HTTP/1.1 is parsed unambiguously', () => {
  it.each<Payload>([
    ['a delivery with a length', withLines()],
    ['a delivery in chunks', inChunks(chunks)],
    ['a delivery behind empty lines', (place) => `\r\n\r\n${withLines()(place)}`],
    ['K52 a delivery to the absolute form', firstLine((path) => `POST http://other.example${path} HTTP/1.1`)],
    ['K52 a delivery behind a hundred headers of proxies', (place) => behind(100, withLines()(place))],
  ])('%s is accepted', async (_, bytes) => {
    const place = await testbed({ level: 'listener', clock: systemClock });
    expect(await raw(place, bytes(place))).toBe('HTTP/1.1 200 OK');
    expect(place.called.deliveries).toBe(1);
  });

  it('a second request after the first is a request of its own', async () => {
    const place = await testbed({ level: 'listener', clock: systemClock });
    const first = request(place, ['content-length: 0']).replace('connection: close', 'connection: keep-alive');
    expect(await raw(place, first + request(place, [length], body))).toBe('HTTP/1.1 400 Bad Request');
    expect([place.outcomes, place.called.deliveries]).toEqual([['malformed', 'accepted'], 1]);
  });
});
