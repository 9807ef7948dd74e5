/** What the service answers, and the forms in which it says that something is wrong. */

import type { Choices } from './choices.ts';

export interface Answer {
  readonly status: number;
  /** Sent as JSON; a text is sent as HTML; undefined sends no body. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of a whole answer: half the body, a closed connection, or nothing for ever. */
  readonly ending?: 'cut' | 'reset' | 'hang';
}

export const ok = (result: unknown): Answer => ({ status: 200, body: { response: { result } } });

export const page = (title: string): string =>
  `<!DOCTYPE html><html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`;

export interface Refusal {
  readonly status: number;
  readonly errno: number;
  readonly message: string;
  readonly field?: string;
}

export const unknownVendor: Refusal = {
  status: 404,
  errno: 1012,
  message: 'Bill vendor not found.',
  field: 'vendorid',
};
export const noAccess: Refusal = {
  status: 403,
  errno: 1003,
  message: 'The server could not verify that you are authorized.',
};

/** A refusal in the form that this service uses. */
export function refused(choices: Choices, { status, errno, message, field }: Refusal): Answer {
  const accounting = { errno, message, ...(field === undefined ? {} : { field, object: 'bill_vendor', value: null }) };
  switch (choices.errors) {
    case 'accounting':
      return { status, body: { response: { errors: [accounting] } } };
    case 'accounting object':
      return { status, body: { response: { errors: accounting } } };
    case 'events':
      return { status, body: { errno, message, details: [] } };
    case 'third':
      return { status, body: { code: status, message, details: [{ reason: String(errno), metadata: { field } }] } };
    case 'html':
      return { status, body: page(message) };
    case 'in 200':
      return { status: 200, body: { response: { errors: [accounting] } } };
  }
}

/** As a path or a method that the service does not have. */
export const noRoute = (status: 404 | 405): Answer => ({
  status,
  body: page(status === 404 ? 'Not Found' : 'Method Not Allowed'),
});
