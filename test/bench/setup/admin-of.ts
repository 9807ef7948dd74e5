/** The operator's pages over a mirror that is there, without a daemon around them. */
import { createAdminServer, type AdminOptions } from '../../../src/admin/admin-server.ts';
import { Metrics } from '../../../src/admin/metrics.ts';
import { healthSource } from '../../../src/app/daemon.ts';
import { systemClock, systemRandom } from '../../../src/domain/clock.ts';
import { FiguresThread } from '../../../src/store/reports/figures.ts';
import { lockProcess } from '../../../src/store/files/locks.ts';
import { openMirror } from '../../../src/store/mirror.ts';
import { defaultSettings, settingsIn } from '../../support/settings.ts';
import { compiled } from '../../support/source/compiled.ts';
import { migrations } from './installation.ts';

const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;

export interface AdminOf {
  readonly port: number;
  /** Stops the server alone, as if the daemon had died. */
  stopAnswering(): Promise<void>;
  /** Stops the server, and closes the mirror. */
  stop(): Promise<void>;
}

interface AdminOver extends Partial<Pick<AdminOptions, 'actions' | 'onFault'>> {
  readonly settings?: Partial<AdminOptions['settings']>;
  /** Names of receivers of outgoing webhooks. */
  readonly targets?: readonly string[];
}

/** Where `over` does not say otherwise, actions do nothing, and a fault ends the process. */
export async function adminOf(path: string, accounts: readonly string[], over: AdminOver = {}): Promise<AdminOf> {
  const mirror = await openMirror({ path, migrations, clock: systemClock, random: systemRandom, lockProcess });
  const figures = new FiguresThread(compiled.figures, mirror.path);
  const admin = createAdminServer({
    settingsOption: '',
    settings: { ...defaultSettings.admin, port: 0, ...over.settings },
    source: healthSource({
      version: '0.0.0',
      start: { at: systemClock.now() },
      settings: settingsIn('.', {
        listener: { publicUrl: 'https://mirror.example.com' },
        notify: (over.targets ?? []).map((name) => ({ name, url: 'https://hooks.example/inbox', secret })),
      }),
      mirror,
      secrets: mirror,
      connections: { names: ['default'], of: () => 'default' },
      accounts: {
        supervisors: new Map(accounts.map((id) => [id, { doubt: null, progress: null }])),
        next: (kind) => (kind === 'pull' ? undefined : systemClock.now() + 600_000),
      },
      clock: systemClock,
      listener: { listening: true },
      machine: () => ({ rssBytes: 0, eventLoopLagSeconds: 0 }),
    }),
    figures: (id) => figures.read(id),
    owed: () => figures.owed(),
    browse: (filter) => figures.browse(filter),
    actions: over.actions ?? { accounts, refusal: undefined, run: () => undefined, retry: () => Promise.resolve(0) },
    assetFolder: compiled.pages,
    metrics: new Metrics(),
    query: mirror.query,
    clock: systemClock,
    onGuesses: () => undefined,
    onFault:
      over.onFault ??
      ((error) => {
        throw error;
      }),
  });
  await admin.start();
  let answering: Promise<void> | undefined;
  const stopAnswering = (): Promise<void> => (answering ??= admin.stop());
  return {
    port: admin.address.port,
    stopAnswering,
    async stop() {
      await stopAnswering();
      await figures.stop();
      await mirror.close();
    },
  };
}
