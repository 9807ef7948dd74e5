/**
 * `POST /api/actions/{sync,reconcile,retry,approve}`: what a person may request from the daemon. The answer does not wait for the work.
 *
 * An action starts a run of the account's own supervisor, as a schedule does, or does what `deliveries retry` does. It needs `admin.token`,
 * and accepts JSON only, from the page's own origin or from programs, which send no origin: a browser adds the password to requests that
 * other sites make it send.
 */
import { isMap } from '../../domain/json-cursor.ts';
import type { HttpRequest, HttpRoute } from '../../http/server.ts';
import { answeringBadRequests, BadRequest, jsonAnswer, type ApiHandle } from './answers.ts';

/** The actions of the daemon, by the same code as commands and schedules. */
export interface Actions {
  /** The accounts that are served, and not paused. */
  readonly accounts: readonly string[];
  /** Why nothing can be requested here, as a sentence; undefined where it can. */
  readonly refusal: string | undefined;
  /** Requests a run that begins after this call and may mark up to `approved` vendors gone. */
  run(accountId: string, kind: 'pull' | 'reconcile', approved?: number): void;
  /** Marks parked vendors again. @returns how many. */
  retry(accountId: string): Promise<number>;
}

const actionNames = ['sync', 'reconcile', 'retry', 'approve'] as const;
type ActionName = (typeof actionNames)[number];

interface ActionRequest {
  readonly account: string;
  readonly absences: number | undefined;
}

const bodyLimit = 1_024;

/**
 * One route for each action. Only JSON is read, which no page of another site can send; without a token in the settings each is refused,
 * and says so.
 */
export function actionRoutes(
  actions: Actions,
  isAllowed: boolean,
  guard: (handle: ApiHandle) => HttpRoute['handle'],
): HttpRoute[] {
  return actionNames.map((name) => ({
    method: 'POST',
    path: `/api/actions/${name}`,
    accepts: ['application/json'],
    bodyLimit,
    handle: guard(isAllowed ? answeringBadRequests((request) => perform(actions, name, request)) : refuseWithoutToken),
  }));
}

/** Why there are no actions, and what to do. */
export const noTokenMessage =
  'Actions need a token, because anybody who can open this page could use them. Set `admin.token` or `admin.tokenFile` in the settings, and restart the daemon.';

const refuseWithoutToken: ApiHandle = () =>
  Promise.resolve(jsonAnswer({ error: 'no_token', message: noTokenMessage }, 403));

async function perform(actions: Actions, name: ActionName, request: HttpRequest): ReturnType<ApiHandle> {
  const { refusal } = actions;
  if (refusal !== undefined) return jsonAnswer({ error: 'works_elsewhere', message: refusal }, 409);
  const { account, absences } = actionRequest(request.body, name, actions);
  const message = await messages[name](actions, account, absences ?? 0);
  return jsonAnswer({ ok: true, action: name, account, message }, 202);
}

const messages: Readonly<
  Record<ActionName, (actions: Actions, account: string, absences: number) => string | Promise<string>>
> = {
  sync(actions, account) {
    actions.run(account, 'pull');
    return 'A full pull was requested. It begins as soon as no other run is under way.';
  },
  reconcile(actions, account) {
    actions.run(account, 'reconcile');
    return 'A reconciliation was requested. It begins as soon as no other run is under way.';
  },
  async retry(actions, account) {
    const marked = await actions.retry(account);
    if (marked === 0) return 'Nothing is parked.';
    return marked === 1 ? 'One vendor is read again now.' : `${marked} vendors are read again now.`;
  },
  approve(actions, account, absences) {
    actions.run(account, 'reconcile', absences);
    return `A reconciliation was requested that may mark up to ${absences} vendors gone.`;
  },
};

/** @throws BadRequest for anything that is not a known account and, for `approve`, a number of absences. */
function actionRequest(body: Uint8Array, name: ActionName, { accounts }: Actions): ActionRequest {
  const { account = accounts.length === 1 ? accounts[0] : undefined, absences, ...others } = documentOf(body);
  const known = name === 'approve' ? 'account and absences' : 'account';
  if (Object.keys(others).length > 0) throw new BadRequest(`The body should name ${known}, and nothing else.`);
  if (typeof account !== 'string' || !accounts.includes(account))
    throw new BadRequest('account should be one that this daemon serves, and that is not paused.');
  if (name !== 'approve') {
    if (absences !== undefined) throw new BadRequest(`The body should name ${known}, and nothing else.`);
    return { account, absences: undefined };
  }
  if (!Number.isSafeInteger(absences) || Number(absences) < 1)
    throw new BadRequest('absences should be a whole number from 1: how many vendors may be gone.');
  return { account, absences: Number(absences) };
}

function documentOf(body: Uint8Array): Record<string, unknown> {
  try {
    const document = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body) || '{}') as unknown;
    if (isMap(document)) return document;
  } catch {
    // Thrown below.
  }
  throw new BadRequest('The body should be a JSON object.');
}
