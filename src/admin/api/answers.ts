/** Answers of the operator's API: JSON documents and refusals. */
import { jsonText } from '../../domain/steering.ts';
import type { HttpAnswer, HttpRoute } from '../../http/server.ts';

export type ApiHandle = HttpRoute['handle'];

export function jsonAnswer(document: unknown, status = 200): HttpAnswer & { readonly body: string } {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: `${jsonText(document, 2)}\n`,
  };
}

/** A request that cannot be answered; its message is sent with status 400. */
export class BadRequest extends Error {
  override readonly name = 'BadRequest';
}

/** Answers a bad request with 400 and its message. */
export function answeringBadRequests(handle: ApiHandle): ApiHandle {
  return async (request) => {
    try {
      return await handle(request);
    } catch (error) {
      if (error instanceof BadRequest) return jsonAnswer({ error: 'bad_request', message: error.message }, 400);
      throw error;
    }
  };
}

/** Refuses unknown parameters: a misspelt filter must not return everything. */
export class Parameters {
  readonly #query: URLSearchParams;

  /** @throws BadRequest where the query names a parameter that is not among `known`, or one twice. */
  constructor(query: URLSearchParams, known: readonly string[]) {
    this.#query = query;
    for (const name of query.keys()) {
      if (!known.includes(name)) throw new BadRequest(`Unknown parameter; known are ${known.join(', ')}.`);
      if (query.getAll(name).length > 1) throw new BadRequest(`${name} may be given once.`);
    }
  }

  /** As it was sent; undefined where it was left out or empty. */
  text(name: string): string | undefined {
    return this.#query.get(name) || undefined;
  }

  /** One of a few words. */
  word<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const sent = this.text(name);
    const word = words.find((known) => known === sent);
    if (sent !== undefined && word === undefined) throw new BadRequest(`${name} should be one of ${words.join(', ')}.`);
    return word;
  }

  /** A whole number from 1. */
  whole(name: string, most: number): number | undefined {
    const sent = this.text(name);
    if (sent === undefined) return undefined;
    const number = /^\d{1,16}$/.test(sent) ? Number(sent) : NaN;
    if (!(number >= 1 && number <= most)) throw new BadRequest(`${name} should be a whole number from 1 to ${most}.`);
    return number;
  }
}
