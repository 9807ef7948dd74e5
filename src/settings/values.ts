/** The forms of single values that several parts of the settings share. Each rule is worded as what would be right. */
import { z } from 'zod';
import { Secret } from '../domain/secret.ts';

export const text = z.string({ error: 'text' }).regex(/^\P{Cc}+$/u, 'text of one line, not empty');
export const path = text.describe('a path');
export const secret = text.regex(/^[\x21-\x7e]+$/, 'one line of visible ASCII').transform((value) => new Secret(value));

const loopbackHosts = new Set(['localhost', '127.0.0.1', '::1', '[::1]']);

/** Whether a host name means this machine. */
export function isLoopback(host: string): boolean {
  return loopbackHosts.has(host) || /^127(\.\d{1,3}){3}$/.test(host);
}

export const serviceUrl = text.transform((value, context) => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const secure = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (!url || !secure) context.addIssue('an https address (http only for this machine)');
  else if (url.username || url.password || url.search || url.hash)
    context.addIssue('an address without user, query or fragment');
  return value.replace(/\/+$/, '');
});
