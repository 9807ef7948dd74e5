/** Answers of the operator's API: JSON documents and refusals. */
import { withOption } from '../../domain/commands.ts';
import { MirrorError } from '../../domain/errors.ts';
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

/** Says what is wrong where the mirror cannot be asked, with status 503: to people as text, to programs as JSON. */
export function answeringTrouble(
  handle: ApiHandle,
  settingsOption: string,
  onTrouble: (error: MirrorError) => void,
): ApiHandle {
  return async (request) => {
    try {
      return await handle(request);
    } catch (error) {
      if (!(error instanceof MirrorError)) throw error;
      onTrouble(error);
      const [message, remedy] = [error.message, error.hint].map((text) => withOption(settingsOption, text));
      if (request.path.startsWith('/api/')) return jsonAnswer({ error: error.code, message, what_to_do: remedy }, 503);
      const headers = { 'content-type': 'text/plain; charset=utf-8', refresh: '10' };
      return { status: 503, headers, body: `${message}\n${remedy}\n` };
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
