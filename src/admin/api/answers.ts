/** Answers of the operator's API: JSON documents and refusals. */
import type { HttpAnswer, HttpRoute } from '../../http/server.ts';

export type ApiHandle = HttpRoute['handle'];

export function jsonAnswer(document: unknown, status = 200): HttpAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: `${JSON.stringify(document, null, 2)}\n`,
  };
}

/** A request that cannot be answered; its message is sent with status 400. */
export class BadRequest extends Error {
  override readonly name = 'BadQuestion';
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
