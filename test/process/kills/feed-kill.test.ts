/** The change feed, where the daemon and those who build on it are killed at any moment. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { seededRandom, seedOf } from '../../../src/sandbox/core/random.ts';
import { packageRoot } from '../../support/mirror-file.ts';
import { asked } from '../../support/test-size.ts';
import { flow, taken, until, watched, type DaemonProcess } from '../../support/testbed/daemon-process.ts';
import { ended } from '../../support/testbed/program.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

/** Told where a test fails; SEED repeats it. */
const seed = asked('SEED', 1);
const kills = asked('FEED_KILLS', 6);

const settings = 'sync: { lag: 0s, secondLook: 1s, breaker: { vendors: 100000 } }';
const forms = ['json', 'events'] as const;
type Form = (typeof forms)[number];

interface Stored {
  readonly seq: number;
  readonly vendorid: number;
  readonly changed_fields: readonly string[];
}

/** A program that reads the feed in one form, and what it has stored. */
class Consumer {
  readonly #at: Testbed<'program'>;
  readonly #form: Form;
  readonly #file: string;
  #process: DaemonProcess;

  constructor(at: Testbed<'program'>, form: Form) {
    this.#at = at;
    this.#form = form;
    this.#file = join(at.folder, `${form}.ndjson`);
    this.#process = this.#start();
  }

  /** Whole lines. */
  get stored(): Stored[] {
    if (!existsSync(this.#file)) return [];
    const lines = readFileSync(this.#file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Stored);
  }

  get last(): number {
    return this.stored.at(-1)?.seq ?? 0;
  }

  /** Resolves once it has stored so many more changes. */
  async progress(more: number): Promise<void> {
    const goal = this.stored.length + more;
    await until(() => this.stored.length >= goal || this.#process.child.exitCode !== null);
    expect(this.#process.stderr(), this.#form).toBe('');
  }

  async kill(): Promise<void> {
    await this.#process.end('SIGKILL');
    this.#process = this.#start();
  }

  #start(): DaemonProcess {
    const loader = join(packageRoot, '.config/typescript-loader.js');
    const script = join(packageRoot, 'test/process/kills/feed-consumer.ts');
    const address = `http://127.0.0.1:${this.#at.adminPort}/api/changes`;
    return watched(this.#at.execute(process.execPath, '--import', loader, script, this.#form, address, this.#file));
  }
}

it(
  `killed ${kills} times, the daemon or the reader of its feed: no change is lost, repeated or out of order`,
  async () => {
    const world = await testbed({ level: 'sandbox', vendors: 100, seed: `feed ${seed}` });
    const at = await testbed({ level: 'program', service: world, listens: true, settings });
    const random = seededRandom(seedOf(seed, 'feed kills'));
    const consumers = forms.map((form) => new Consumer(at, form));
    const stopFlow = flow(world, seededRandom(seedOf(seed, 'feed life')));
    let daemon = at.launch();
    await taken(daemon, world, 1);
    for (let nth = 0; nth < kills; nth++) {
      const victim = random.pick(['daemon', ...consumers]);
      await random.pick(consumers).progress(random.below(40));
      await later(random.below(12));
      if (typeof victim !== 'string') {
        await victim.kill();
        continue;
      }
      await daemon.end('SIGKILL');
      at.buryAll();
      daemon = at.launch();
      // Some lives end before they have begun.
      if (random.happens(0.25)) await later(random.below(600));
      else await daemon.logged('"msg":"serving"');
    }
    stopFlow();
    await daemon.logged('"msg":"serving"');
    const { status, stderr } = await ended(at.start('reconcile'));
    expect(status, stderr).toBe(0);
    const [end] = at.query<{ seq: number }>('SELECT max(seq) AS seq FROM vendor_versions');
    for (const consumer of consumers) await until(() => consumer.last >= (end?.seq ?? 0));
    expect(await daemon.end()).toBe(0);
    for (const { stored } of consumers) {
      const told = stored.map(({ seq, vendorid, changed_fields }) => [seq, vendorid, changed_fields.join()]);
      const written = at.query<{ seq: number; vendorid: number; fields: string }>(
        'SELECT seq, vendorid, changed_fields AS fields FROM vendor_versions WHERE seq <= ? ORDER BY seq',
        stored.at(-1)?.seq,
      );
      expect(told, `seed ${seed}`).toEqual(
        written.map(({ seq, vendorid, fields }) => [seq, vendorid, (JSON.parse(fields) as string[]).join()]),
      );
    }
    expect(end?.seq).toBeGreaterThan(100 + kills);
  },
  60_000 + kills * 30_000,
);
