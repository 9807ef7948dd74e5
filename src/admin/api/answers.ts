/** Answers of the operator's API: documents in JSON, and refusals that say what would be right. */
import type { HttpAnswer, HttpRoute } from '../../http/server.ts';

export type ApiHandle = HttpRoute['handle'];

export function jsonAnswer(document: unknown, status = 200): HttpAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: `${JSON.stringify(document, null, 2)}\n`,
  };
}

/** A question that cannot be answered as it was asked; the answer is its message. */
export class BadQuestion extends Error {
  override readonly name = 'BadQuestion';
}

/** Answers a bad question with 400 and its message. */
export function answeringQuestions(handle: ApiHandle): ApiHandle {
  return async (request) => {
    try {
      return await handle(request);
    } catch (error) {
      if (error instanceof BadQuestion) return jsonAnswer({ error: 'bad_request', message: error.message }, 400);
      throw error;
    }
  };
}
