/** A service that answers at once, or as late as over a long link. It supports lists, and vendors by number. */
import { createServer } from 'node:http';
import { systemClock } from '../../../src/domain/clock.ts';
import type { JobResult } from '../setup/job.ts';
import { closed, listening } from '../setup/sockets.ts';
import { firstId, textsOf } from '../setup/texts.ts';

export interface ServiceParams {
  readonly vendors: number;
  readonly perPage: number;
  /** How late each answer is, in milliseconds; default: not at all. */
  readonly latency?: number;
}

/** `round`: so many of a hundred vendors are edited. `edit`: one vendor is, once more: what comes back as it was would be taken for an old copy. */
export type ServiceQuestion = { readonly round: number } | { readonly edit: number };

export interface ServiceResult {
  readonly baseUrl: string;
}

const noGateways = '{"response":{"result":{"gateways":[],"page":1,"pages":1,"per_page":100,"total":0}}}';

/** Pages whose bytes are kept: those of up to this many vendors. */
const kept = 200_000;

export async function job({ vendors, perPage, latency = 0 }: ServiceParams): Promise<JobResult> {
  const texts = textsOf();
  let round = 0;
  const pages = new Map<number, Buffer>();
  const edits = new Map<number, number>();

  const page = (number: number): Buffer => {
    const bytes = pages.get(number) ?? Buffer.from(texts.page(number, perPage, vendors, round));
    if (vendors <= kept) pages.set(number, bytes);
    return bytes;
  };
  const one = (vendorid: number): string =>
    `{"response":{"result":{"bill_vendor":${texts.vendor(vendorid - firstId, edits.get(vendorid) ?? 0)}}}}`;
  const prepare = (): void => {
    pages.clear();
    if (vendors <= kept) for (let number = 1; number <= Math.ceil(vendors / perPage); number += 1) page(number);
  };

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://service');
    const id = /\/bill_vendors\/bill_vendors\/(\d+)$/.exec(url.pathname)?.[1];
    const body = url.pathname.endsWith('/gateways')
      ? noGateways
      : id === undefined
        ? page(Math.max(1, Number(url.searchParams.get('page') ?? 1)))
        : one(Number(id));
    const answer = (): void => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
      response.end(body);
    };
    if (latency === 0) answer();
    else systemClock.timer(latency, answer);
  });
  server.keepAliveTimeout = 60_000;
  const port = await listening(server);
  prepare();
  const result: ServiceResult = { baseUrl: `http://127.0.0.1:${port}` };
  return {
    result,
    answer(question: ServiceQuestion) {
      if ('round' in question) {
        ({ round } = question);
        prepare();
      } else edits.set(question.edit, (edits.get(question.edit) ?? 0) + 1);
      return Promise.resolve();
    },
    stop: () => closed(server),
  };
}
