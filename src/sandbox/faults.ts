/** Faults of the service and of the network: by rate, or the next time something is asked. */
import { httpDate } from '../domain/clock.ts';
import { unauthenticated } from './core/access.ts';
import type { SeededRandom } from './core/random.ts';
import {
  areaReply,
  denied,
  htmlPage,
  Refusal,
  type Answer,
  type Area,
  type Breakage,
  type Reply,
} from './core/reply.ts';
import type { FaultKind } from './core/worlds.ts';
import type { SandboxRequest } from './endpoints/sandbox-call.ts';

export interface ScriptedFault {
  readonly kind: FaultKind;
  /** Which request it waits for; the next one when left out. */
  readonly match?: (request: SandboxRequest) => boolean;
  /** The text of Retry-After instead of the usual one. */
  readonly retryAfter?: string;
}

export class Faults {
  readonly #rates: readonly (readonly [FaultKind, number])[];
  readonly #random: SeededRandom;
  readonly #scripted: ScriptedFault[] = [];

  constructor(rates: Readonly<Partial<Record<FaultKind, number>>>, random: SeededRandom) {
    this.#rates = Object.entries(rates) as [FaultKind, number][];
    this.#random = random;
  }

  /** Happens once, to the next request that matches; several wait in line. */
  next(fault: ScriptedFault): void {
    this.#scripted.push(fault);
  }

  /** The fault that this request meets, if any. */
  draw(request: SandboxRequest): ScriptedFault | undefined {
    const due = this.#scripted.findIndex(({ match }) => match?.(request) ?? true);
    if (due >= 0) return this.#scripted.splice(due, 1)[0];
    const drawn = this.#rates.find(([, rate]) => this.#random.happens(rate));
    return drawn && { kind: drawn[0] };
  }
}

/** What happens instead of the request; undefined if the request is carried out first. */
export function insteadOf(fault: ScriptedFault, area: Area, now: number): Reply | Breakage | undefined {
  const { kind, retryAfter } = fault;
  switch (kind) {
    case '401':
      return unauthenticated(area);
    case '403':
      return areaReply(denied(1003, 'Access denied.'), area);
    case '429':
      return { ...tooMany(area), headers: { 'retry-after': retryAfter ?? '2' } };
    case '429_date':
      return { ...tooMany(area), headers: { 'retry-after': retryAfter ?? httpDate(now + 3_000) } };
    case '500':
      return htmlPage(500);
    case '503':
      return { ...htmlPage(503), headers: { 'retry-after': retryAfter ?? '2' } };
    case 'html':
      return htmlPage(200);
    case 'errors_in_200':
      return accountingError(200, 12001, 'You do not have access to items.');
    case 'redirect':
      return { status: 302, headers: { location: 'http://elsewhere.example/' } };
    case 'hang':
    case 'reset':
      return { kind };
    case 'reset_after':
    case 'stall':
    case 'truncated':
    case 'empty_list':
    case 'wrong_page':
      return undefined;
  }
}

/** Falsifies what the request truly answers. */
export function falsify(fault: ScriptedFault | undefined, reply: Reply): Reply {
  if (fault?.kind !== 'empty_list' && fault?.kind !== 'wrong_page') return reply;
  const result = (reply.payload as { response?: { result?: Record<string, unknown> } } | undefined)?.response?.result;
  if (typeof result?.['page'] !== 'number') return reply;
  const falsified =
    fault.kind === 'wrong_page'
      ? { ...result, page: result['page'] + 1 }
      : Object.fromEntries(Object.entries(result).map(([key, value]) => [key, emptied(key, value)]));
  return { ...reply, payload: { response: { result: falsified } } };
}

/** Breaks the answer on its way. */
export function breakUp(fault: ScriptedFault | undefined, answer: Answer): Answer {
  const after = Math.floor(answer.body.length / 2);
  if (fault?.kind === 'reset_after') return { ...answer, breakage: { kind: 'reset' } };
  if (fault?.kind === 'stall') return { ...answer, breakage: { kind: 'stall', after } };
  if (fault?.kind === 'truncated') return { ...answer, breakage: { kind: 'truncate', after } };
  return answer;
}

export function tooMany(area: Area): Reply {
  return areaReply(new Refusal({ status: 429, errno: 429, message: 'Too many requests.' }), area);
}

function accountingError(status: number, errno: number, message: string): Reply {
  return { status, payload: { response: { errors: [{ errno, message }] } } };
}

function emptied(key: string, value: unknown): unknown {
  if (Array.isArray(value)) return [];
  return key === 'total' || key === 'pages' ? 0 : value;
}
