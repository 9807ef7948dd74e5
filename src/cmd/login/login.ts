/** `login`: a person authorizes vendor-mirror in a browser, and the tokens are kept with the secrets. */
import {
  authorizationRequest,
  redeem,
  type AuthorizationRequest,
  type Authorized,
} from '../../api/auth/authorization.ts';
import type { OAuthSettings } from '../../api/auth/token-request.ts';
import type { Installation } from '../../app/installation.ts';
import { asMirrorError, exitStatus, MirrorError } from '../../domain/errors.ts';
import { isLoopback, type Settings } from '../../settings/parse.ts';
import type { Call, Run } from '../process/command.ts';
import { highestExit } from '../process/highest-exit.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { withInstallation } from '../setup/with-installation.ts';
import { print, printError, printJson, printNotice } from '../terminal/print.ts';
import { isAnybodyThere, prompt, readInput } from '../terminal/prompt.ts';
import { awaitRedirect } from './redirect-listener.ts';

/** An account of the settings, and why the new token does not open it. */
interface Access {
  readonly account: string;
  readonly error: MirrorError | undefined;
}

export const login: Run = async (call) => {
  const { context, options } = call;
  const settings = loadSettings(call);
  const oauth = oauthOf(settings);
  return withInstallation(call, settings, async (installation) => {
    const request = await authorizationRequest(oauth, context.random);
    const answer = await answerOf(context, oauth, request);
    const { clock, fetch } = context;
    const authorized = await redeem(oauth, request, answer, { clock, fetch, timeout: settings.service.timeout });
    await installation.access.keepGrant({ oauth }, authorized.pair);
    const access = await accessOf(installation, call);
    if (options.json) printJson(context, document(authorized, access));
    else report(context, authorized, access);
    return highestExit(access.map(({ error }) => error?.exit ?? exitStatus.done));
  });
};

/** @throws MirrorError `settings_invalid` where access is got in another way. */
export function oauthOf({ service: { auth } }: Settings): OAuthSettings {
  if (auth && 'oauth' in auth) return auth.oauth;
  throw new MirrorError(
    'settings_invalid',
    'service.auth.oauth is not set: only such access is got by logging in. A token of your own needs no login.',
  );
}

/** Waits for the browser where it comes back to this machine; otherwise the person, or standard input, brings the address. */
async function answerOf(
  context: ProcessContext,
  { redirectUri }: OAuthSettings,
  { address, state }: AuthorizationRequest,
): Promise<URLSearchParams> {
  const redirect = new URL(redirectUri);
  const open = `Open this address in a browser, and allow access:\n\n  ${address.href}\n`;
  if (redirect.protocol === 'http:' && isLoopback(redirect.hostname))
    return awaitRedirect(redirect, state, context, () =>
      printNotice(context, `${open}\nWaiting for the browser to come back to ${redirectUri} …`),
    );
  printNotice(context, open);
  const question = 'Then paste the address to which the browser was sent (or the code in it):';
  const text = isAnybodyThere(context) ? await prompt(context, question, { hidden: true }) : await readInput(context);
  return queryOf(text.trim(), state);
}

/** A whole address, its query, or the code alone, which a person reads off the page. */
function queryOf(text: string, state: string): URLSearchParams {
  if (URL.canParse(text)) return new URL(text).searchParams;
  if (text.includes('code=')) return new URLSearchParams(text);
  return new URLSearchParams({ code: text, state });
}

async function accessOf(installation: Installation, { context }: Call): Promise<Access[]> {
  const access: Access[] = [];
  for (const account of installation.accounts) {
    const { vendors } = installation.account(account).client;
    access.push(
      await vendors.page(1, { size: 1, signal: context.interrupted }).then(
        () => ({ account, error: undefined }),
        (error: unknown) => ({ account, error: asMirrorError(error) }),
      ),
    );
  }
  return access;
}

function document({ scopes }: Authorized, access: readonly Access[]): object {
  return {
    ok: access.every(({ error }) => !error),
    scopes: scopes ?? null,
    accounts: access.map(({ account, error }) => ({ account, access: !error, ...(error && { error: error.message }) })),
  };
}

function report(context: ProcessContext, { scopes }: Authorized, access: readonly Access[]): void {
  print(context, `Logged in. ${scopes ? `Scopes: ${scopes.join(', ')}.` : 'The service did not say which scopes.'}`);
  for (const { account, error } of access)
    if (error) printError(context, error, `the account ${account} cannot be read`);
    else print(context, `The account ${account} can be read.`);
}
