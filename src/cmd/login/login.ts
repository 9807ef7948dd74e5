/** `login`: a person authorizes vendor-mirror in a browser, and the tokens are kept with the secrets. */
import {
  authorizationRequest,
  redeem,
  type AuthorizationRequest,
  type Authorized,
} from '../../api/auth/authorization.ts';
import type { OAuthSettings } from '../../api/auth/token-request.ts';
import type { Installation } from '../../app/installation.ts';
import type { MirrorError } from '../../domain/errors.ts';
import { asMirrorError, exitStatus } from '../../domain/errors.ts';
import { connectionNameOf } from '../../settings/account-connections.ts';
import { defaultConnection, isLoopback, type Settings } from '../../settings/parse.ts';
import type { Call, CommandHandler } from '../process/command.ts';
import { highestExit } from '../process/highest-exit.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { withInstallation } from '../setup/with-installation.ts';
import { printText, printError, printJson, printNotice } from '../terminal/print.ts';
import { shellWord } from '../process/settings-option.ts';
import { visible } from '../terminal/plain-text.ts';
import { isInteractive, prompt, readInput } from '../terminal/prompt.ts';
import { newSettings, type NewServiceOptions } from './new-settings.ts';
import { oauthConnection } from './oauth-connection.ts';
import { awaitRedirect } from './redirect-listener.ts';

/** An account of the settings, and why the new token does not open it. */
interface Access {
  readonly account: string;
  readonly error: MirrorError | undefined;
}

export const login: CommandHandler<NewServiceOptions> = async (call) => {
  const { context, options } = call;
  const created = await newSettings(call);
  const settings = created?.settings ?? loadSettings(call);
  const { name, oauth } = oauthConnection(settings, call.args[0]);
  const request = await authorizationRequest(oauth, context.random);
  const answer = await answerOf(context, oauth, request);
  return withInstallation(call, settings, async (installation) => {
    const { clock, fetch } = context;
    const authorized = await redeem(oauth, request, answer, { clock, fetch, timeout: settings.service.timeout });
    await installation.connections.keepGrant(name, authorized.pair);
    const wrote = created?.write() ?? [];
    const access = await accessOf(installation, accountsOf(settings, name), call);
    if (options.json) printJson(context, { ...document(name, authorized, access), wrote });
    else {
      for (const path of wrote) printText(context, `Wrote ${visible(path)}.`);
      report(context, name, authorized, access);
      if (created) printText(context, nextSteps(created.name));
    }
    return highestExit(access.map(({ error }) => error?.exit ?? exitStatus.done));
  });
};

/** Where somebody goes from here who has just begun. */
function nextSteps(name: string): string {
  const option = `-c ${shellWord(name)}`;
  return `Next, \`vendor-mirror doctor ${option}\` checks everything, and \`vendor-mirror serve ${option}\` mirrors it.`;
}

/** Accounts of the settings that a connection gives access to. */
function accountsOf(settings: Settings, name: string): string[] {
  return settings.accounts.filter((account) => connectionNameOf(settings, account) === name);
}

/** Waits for the browser where it comes back to this machine; otherwise the person, or standard input, brings the address. */
async function answerOf(
  context: ProcessContext,
  { redirectUri }: OAuthSettings,
  { address, state }: AuthorizationRequest,
): Promise<URLSearchParams> {
  const redirect = new URL(redirectUri);
  const open = `Open this address in a browser and allow access:\n\n  ${address.href}\n`;
  if (redirect.protocol === 'http:' && isLoopback(redirect.hostname))
    return awaitRedirect(redirect, state, context, () =>
      printNotice(context, `${open}\nWaiting for the browser to come back to ${redirectUri} …`),
    );
  printNotice(context, open);
  const question = 'Then paste the address to which the browser was sent (or the code from it):';
  const text = isInteractive(context) ? await prompt(context, question, { hidden: true }) : await readInput(context);
  return queryOf(text.trim(), state);
}

/** A whole address, its query, or the code alone, which a person reads off the page. */
function queryOf(text: string, state: string): URLSearchParams {
  if (URL.canParse(text)) return new URL(text).searchParams;
  if (text.includes('code=')) return new URLSearchParams(text);
  return new URLSearchParams({ code: text, state });
}

async function accessOf(installation: Installation, accounts: readonly string[], { context }: Call): Promise<Access[]> {
  const access: Access[] = [];
  for (const account of accounts) {
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

function document(connection: string, { scopes }: Authorized, access: readonly Access[]): object {
  return {
    ok: access.every(({ error }) => !error),
    connection,
    scopes: scopes ?? null,
    accounts: access.map(({ account, error }) => ({ account, access: !error, ...(error && { error: error.message }) })),
  };
}

function report(context: ProcessContext, connection: string, { scopes }: Authorized, access: readonly Access[]): void {
  const where = connection === defaultConnection ? '' : ` for the connection ${connection}`;
  printText(
    context,
    `Logged in${where}. ${scopes ? `Scopes: ${scopes.join(', ')}.` : 'The service did not report the scopes.'}`,
  );
  for (const { account, error } of access)
    if (error) printError(context, error, `the account ${account} cannot be read`);
    else printText(context, `The account ${account} can be read.`);
  if (access.length === 0) printText(context, 'No account uses this connection yet.');
}
