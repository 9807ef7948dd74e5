/** One installation: the mirror, the service's accounts, and the jobs between them, built from the settings. */
import { connect, type ServiceClient } from './api/client.ts';
import type { ApiSeams } from './api/call.ts';
import { oauthTokens } from './api/oauth-tokens.ts';
import { fileToken, fixedToken, type TokenSource } from './api/tokens.ts';
import type { Clock, Dice } from './clock.ts';
import type { Settings } from './config.ts';
import { asMirrorError, MirrorError } from './errors.ts';
import type { Log } from './log.ts';
import { openMirror, type Mirror } from './store/mirror.ts';
import type { IsAlive } from './store/runs.ts';
import { openSecrets, type Secrets } from './store/secrets.ts';
import { pullGateways } from './sync/pull-gateways.ts';
import { pull, type PullOptions } from './sync/pull.ts';
import { OneReader } from './sync/read-one.ts';

export type { SweepProgress } from './sync/sweep.ts';

export interface InstallationSeams {
  readonly clock: Clock;
  readonly dice: Dice;
  readonly fetch: ApiSeams['fetch'];
  readonly log: Log;
  readonly process: { readonly pid: number; readonly isAlive: IsAlive };
  /** The folder that holds the migrations of both files. */
  readonly migrations: string;
  readonly observe?: NonNullable<ApiSeams['observe']>;
  readonly patience?: NonNullable<ApiSeams['patience']>;
}

/** How a run ended, in the names of `sync --json`. */
export interface RunSummary {
  readonly account: string;
  readonly run_id: number;
  readonly kind: PullOptions['kind'];
  readonly outcome: 'complete' | 'incomplete' | 'failed';
  readonly pages: number;
  readonly requests: number;
  readonly seen: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly suspects: number;
  readonly seconds: number;
  readonly error?: MirrorError;
  /** What else a person should know, in sentences. */
  readonly notes: readonly string[];
}

export interface GatewaySummary {
  readonly account: string;
  readonly seen: number;
  readonly removed: number;
  readonly error?: MirrorError;
}

export interface Installation {
  readonly accounts: readonly string[];
  /** One run over an account's vendors. Expected failures stand in the summary. */
  pull(accountId: string, options: PullOptions): Promise<RunSummary>;
  /** Mirrors an account's gateways. Expected failures stand in the summary. */
  pullGateways(accountId: string, options: { readonly signal: AbortSignal }): Promise<GatewaySummary>;
  close(): Promise<void>;
}

/**
 * Opens the files and connects to the service; nothing is requested yet.
 * @throws MirrorError of files and settings.
 */
export async function openInstallation(settings: Settings, seams: InstallationSeams): Promise<Installation> {
  const { service, accounts } = settings;
  if (service.baseUrl === null)
    throw new MirrorError('settings_invalid', 'service.baseUrl is not set, so there is no service to read from.');
  const { clock, dice, migrations } = seams;
  const mirror = await openMirror({ path: settings.database, migrations, clock, dice, process: seams.process });
  let secrets: Secrets | undefined;
  try {
    secrets = await openSecrets({ path: settings.secrets, migrations, clock, dice });
    await mirror.addAccounts(accounts);
  } catch (error) {
    await secrets?.close();
    await mirror.close();
    throw error;
  }
  const tokens = tokenSource(service, secrets, seams);
  const { fetch, log, observe, patience } = seams;
  const api: ApiSeams = {
    clock,
    dice,
    fetch,
    log,
    tokens,
    takeStamp: () => mirror.takeStamp(),
    ...(observe && { observe }),
    ...(patience && { patience }),
  };
  const known = new Map<string, Account>();
  const accountOf = (accountId: string): Account => {
    const account =
      known.get(accountId) ?? openAccount(accountId, { ...service, baseUrl: service.baseUrl ?? '' }, api, mirror);
    known.set(accountId, account);
    return account;
  };
  return {
    accounts,
    async pull(accountId, options) {
      const started = clock.monotonic();
      const { client, reader } = accountOf(accountId);
      const { run, outcome, counts, error, notes } = await pull(
        {
          accountId,
          vendors: client.vendors,
          mirror,
          reader,
          clock,
          log: seams.log,
          sync: settings.sync,
          concurrency: service.paging.concurrency,
          extraWalks: service.extraWalks,
        },
        options,
      );
      const seconds = Math.round(clock.monotonic() - started) / 1_000;
      const { kind, id } = run;
      return {
        account: accountId,
        run_id: id,
        kind: kind === 'reconcile' ? kind : 'pull',
        outcome,
        ...counts,
        seconds,
        notes,
        ...(error && { error }),
      };
    },
    async pullGateways(accountId, { signal }) {
      const { client } = accountOf(accountId);
      try {
        return {
          account: accountId,
          ...(await pullGateways({ gateways: client.gateways, mirror, accountId }, signal)),
        };
      } catch (error) {
        const failure = signal.aborted
          ? new MirrorError('interrupted', 'Interrupted before the gateways were read.')
          : asMirrorError(error);
        return { account: accountId, seen: 0, removed: 0, error: failure };
      }
    },
    async close() {
      await secrets.close();
      await mirror.close();
    },
  };
}

interface Account {
  readonly client: ServiceClient;
  readonly reader: OneReader;
}

function openAccount(
  accountId: string,
  service: Settings['service'] & { baseUrl: string },
  api: ApiSeams,
  mirror: Mirror,
): Account {
  const client = connect(service, accountId, api);
  return {
    client,
    reader: new OneReader({ vendors: client.vendors, mirror, clock: api.clock, setting: service.readOne }),
  };
}

function tokenSource(service: Settings['service'], secrets: Secrets, seams: InstallationSeams): TokenSource {
  const { auth, timeout } = service;
  if (auth === null)
    throw new MirrorError('settings_invalid', 'service.auth is not set, so there is no token to send.');
  if ('accessToken' in auth) return fixedToken(auth.accessToken);
  if ('accessTokenFile' in auth) return fileToken(auth.accessTokenFile);
  const { oauth } = auth;
  return oauthTokens(oauth, secrets.vault(`${oauth.tokenUrl} ${oauth.clientId}`), { ...seams, timeout });
}
