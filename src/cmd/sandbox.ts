/** `sandbox`: an emulator of the service on a local port. */
import { once } from 'node:events';
import { Command } from 'commander';
import { MirrorError, withFullStop } from '../domain/errors.ts';
import { allScopes } from '../sandbox/core/access.ts';
import { defaultWorld, faultKinds, parseWorld, worldAxes, type FaultKind, type World } from '../sandbox/core/worlds.ts';
import type { Attempt } from '../sandbox/delivery/delivery-sender.ts';
import { collected, helpItem, helpWidth, isRate, nonNegative, portNumber, rate, wholeFrom } from './options.ts';
import type { ProcessContext } from './process/process-context.ts';
import { print, printJson, printNotice } from './terminal/print.ts';

interface SandboxFlags {
  readonly host: string;
  readonly port: number;
  readonly vendors: number;
  readonly seed: string;
  readonly account?: readonly string[];
  readonly token?: string;
  readonly refreshToken?: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly tokenLifetime?: number;
  readonly scope?: readonly string[];
  readonly file?: string;
  readonly cors?: boolean;
  readonly deliverAnywhere?: boolean;
  readonly churn: number;
  readonly events: number;
  readonly world?: readonly string[];
  readonly fault?: readonly string[];
  readonly lose: number;
  readonly late: number;
  readonly repeat: number;
  readonly reorder: number;
  readonly forge: number;
  readonly rateLimit: boolean;
  readonly json?: boolean;
}

/** The command with its options and its help; it runs until `context.interrupted`. Throws `usage` and `port_taken`. */
export function sandboxCommand(context: ProcessContext): Command {
  return new Command('sandbox')
    .summary('run an emulator of the service, with invented vendors')
    .description('Runs an emulator of the service on a local port, with invented vendors, until Ctrl-C.')
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--port <number>', 'the port; 0 takes a free one', portNumber, 8790)
    .option('--file <path>', 'keep the world in this file, so that a second start finds it as it was left')
    .option('--vendors <number>', 'how many vendors each account starts with', wholeFrom(0, 9_999_999), 500)
    .option('--seed <text>', 'the same seed gives the same vendors and the same random events', 'sandbox')
    .option('--account <id>', 'an account; may be repeated (default: "6BApk")', collected)
    .option('--token <token>', 'the access token that it accepts (default: a random one, which it keeps with --file)')
    .option('--refresh-token <token>', 'a refresh token, valid for one use at /auth/oauth/token')
    .option('--client-id <id>', 'the only application that gets tokens (default: any)')
    .option('--client-secret <secret>', 'its secret (default: any, to which it has to keep)')
    .option('--token-lifetime <seconds>', 'how long each token is valid', wholeFrom(0, 9_999_999))
    .option('--scope <scope>', 'a scope of the tokens; may be repeated (default: all scopes)', collected)
    .option('--cors', 'let web pages of other sites ask')
    .option('--deliver-anywhere', 'deliver to callbacks on other machines too')
    .option('--churn <number>', 'random changes of vendors a second', nonNegative, 0)
    .option('--events <number>', 'random events a second about anything but vendors', nonNegative, 0)
    .option(
      '--world <key=value>',
      'how the service behaves where its reference is silent; may be repeated',
      collected,
      [],
    )
    .option('--fault <kind=rate>', 'how often a request fails in this way, 0 to 1; may be repeated', collected)
    .option('--lose <rate>', 'share of deliveries that are never sent', rate, 0)
    .option('--late <rate>', 'share of deliveries that arrive minutes late', rate, 0)
    .option('--repeat <rate>', 'share of deliveries that are sent twice', rate, 0)
    .option('--reorder <rate>', 'share of deliveries that later ones overtake', rate, 0)
    .option('--forge <rate>', 'share of deliveries that are followed by a forged one', rate, 0)
    .option('--no-rate-limit', 'answer any number of requests a minute')
    .option('--json', 'print one JSON object when it is ready')
    .addHelpText('after', ({ command }) => {
      const width = helpWidth(command);
      return `\n${worldHelp(width)}\n\n${faultHelp(width)}\n\n${examples}`;
    })
    .action((flags: SandboxFlags) => run(context, flags));
}

async function run(context: ProcessContext, flags: SandboxFlags): Promise<void> {
  const world = parseWorld(flags.world ?? []);
  const faults = parseFaults(flags.fault ?? []);
  refuseUnknownScopes(flags.scope ?? []);
  if (flags.clientSecret !== undefined && flags.clientId === undefined)
    throw new MirrorError('usage', '--client-secret is the secret of an application: name it with --client-id.');
  const lock = await lockWorld(flags.file);
  // The HTTP server is loaded only when it is needed.
  const { startEmbeddedSandbox } = await import('../sandbox/embedded.ts');
  const { lose, late, repeat, reorder, forge } = flags;
  const embedded = await startEmbeddedSandbox({
    ...flags,
    ...(flags.scope && { scopes: flags.scope }),
    ...(flags.clientId !== undefined && { client: { id: flags.clientId, secret: flags.clientSecret } }),
    ...(flags.rateLimit ? {} : { rateLimits: null }),
    world,
    faults,
    deliveries: { lose, late, repeat, reorder, forge },
    clock: context.clock,
    fetch: flags.deliverAnywhere ? context.fetch : undefined,
    onFault: (error) => printNotice(context, `The sandbox failed: ${String(error)}`),
  });
  embedded.sandbox.onDelivery(tellFailures(context));
  const accounts = flags.account ?? [embedded.account];
  if (flags.json) {
    const { baseUrl, token, sandbox } = embedded;
    const { vendors, seed } = flags;
    printJson(context, { sandbox: true, base_url: baseUrl, token, accounts, vendors, seed, world: sandbox.world });
  } else print(context, welcome(embedded, accounts, flags, embedded.sandbox.world));
  if (!context.interrupted.aborted) await once(context.interrupted, 'abort');
  await embedded.stop();
  lock?.close();
}

/** Tells why a callback does not take deliveries, once for each reason. */
function tellFailures(context: ProcessContext): (attempt: Attempt) => void {
  const told = new Map<string, string>();
  return ({ account, callbackId, kind, event, status, problem, outcome }) => {
    const callback = `Callback ${callbackId} of account ${account}`;
    const reason = problem ?? (status === undefined ? undefined : `it answered ${status}`);
    if (outcome === 'acknowledged') told.delete(callback);
    else if (kind !== 'forged' && reason !== undefined && told.get(callback) !== reason) {
      told.set(callback, reason);
      printNotice(context, withFullStop(`${callback} did not take ${event}: ${reason}`));
    }
  };
}

function welcome(
  { baseUrl, token }: { baseUrl: string; token: string },
  accounts: readonly string[],
  flags: SandboxFlags,
  world: World,
): string {
  const special = worldAxes.filter(({ key }) => world[key] !== defaultWorld[key]);
  const path = `/accounting/account/${accounts[0] ?? ''}/bill_vendors/bill_vendors`;
  return [
    'The sandbox is ready. Ctrl-C stops it.',
    '',
    `  base URL  ${baseUrl}`,
    `  token     ${token}`,
    ...accounts.map((id) => `  account   ${id}, ${flags.vendors} vendors`),
    ...(flags.refreshToken ? [`  refresh   ${flags.refreshToken}, at ${baseUrl}/auth/oauth/token`] : []),
    ...(flags.clientId === undefined ? [] : [`  client    ${flags.clientId}`]),
    ...(flags.churn > 0 ? [`  churn     ${flags.churn} changes a second`] : []),
    ...(flags.events > 0 ? [`  events    ${flags.events} a second about anything but vendors`] : []),
    ...special.map(({ key }) => `  world     ${key}=${world[key]}`),
    '',
    `  curl -H 'Authorization: Bearer ${token}' '${baseUrl}${path}?per_page=3'`,
  ].join('\n');
}

function refuseUnknownScopes(scopes: readonly string[]): void {
  const unknown = scopes.find((scope) => !allScopes.includes(scope));
  if (unknown !== undefined)
    throw new MirrorError('usage', `Unknown scope “${unknown}”. Known scopes: ${allScopes.join(', ')}.`);
}

/** A world lives in one process at a time. */
async function lockWorld(file: string | undefined): Promise<{ close(): unknown } | undefined> {
  if (file === undefined) return undefined;
  const { lockFile } = await import('../store/files/locks.ts');
  const lock = lockFile(`${file}.lock`);
  if (!lock) throw new MirrorError('database_locked', `Another process uses the world in ${file}.`);
  return lock;
}

function parseFaults(pairs: readonly string[]): Partial<Record<FaultKind, number>> {
  const faults: Partial<Record<FaultKind, number>> = {};
  for (const pair of pairs) {
    const [kind = '', share = ''] = pair.split('=', 2);
    if (!Object.hasOwn(faultKinds, kind))
      throw new MirrorError('usage', `Unknown fault “${kind}”. Known faults: ${Object.keys(faultKinds).join(', ')}.`);
    if (!isRate(share)) throw new MirrorError('usage', `${kind} takes a rate from 0 to 1, not “${share}”.`);
    faults[kind as FaultKind] = Number(share);
  }
  return faults;
}

function worldHelp(width: number): string {
  const lines = worldAxes.map(({ key, values, unit, initial, meaning }) => {
    const allowed = unit === undefined ? values.join(' | ') : `a number of ${unit}`;
    return helpItem(key, 15, `${meaning}\n${allowed} (default: ${initial})`, width);
  });
  return `Worlds, --world key=value:\n${lines.join('\n')}`;
}

function faultHelp(width: number): string {
  const lines = Object.entries(faultKinds).map(([kind, meaning]) => helpItem(kind, 13, meaning, width));
  return `Faults, --fault kind=rate:\n${lines.join('\n')}`;
}

const examples = `Examples:
  vendor-mirror sandbox --vendors 100000
  vendor-mirror sandbox --churn 2 --lose 0.1 --world order=shuffled --world listLag=5
  vendor-mirror sandbox --fault 503=0.05 --fault truncated=0.01`;
