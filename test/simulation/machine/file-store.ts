/** A world whose mirror is a file, used by one process at a time. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../../../src/settings/parse.ts';
import { unsealed } from '../../../src/store/secrets/sealing.ts';
import type { Sqlite } from '../../../src/store/sqlite/driver.ts';
import { placeMirror } from '../../support/mirror-file.ts';
import { FileReader } from './file-reader.ts';
import { busy, full, tapInto } from './sqlite-tap.ts';
import { turn, type Timeline } from './timeline.ts';
import type { Edge, Reader, StoreUser, Use, WorldStore } from './world-store.ts';

export interface FileStoreOptions {
  readonly folder: string;
  readonly settings: Settings;
  readonly timeline: Timeline;
}

export class FileStore implements WorldStore {
  lockedUntil = 0;
  fullUntil = 0;
  readonly server = undefined;
  readonly sealing = unsealed;
  readonly #folder: string;
  readonly #settings: Settings;
  readonly #connections = new Map<Sqlite, StoreUser>();
  readonly #untap: () => void;
  #user: StoreUser | undefined;

  /** With a mirror that was migrated already: the migrations take a tenth of a seed's time, and run once for all seeds. */
  static async make(options: FileStoreOptions): Promise<FileStore> {
    const store = new FileStore(options);
    await placeMirror(store.#settings.database);
    return store;
  }

  private constructor({ folder, settings, timeline }: FileStoreOptions) {
    this.#folder = folder;
    this.#settings = { ...settings, database: join(folder, 'vendors.db'), secrets: join(folder, 'secrets.db') };
    const edge = (user: StoreUser, where: Edge): void => {
      if (user.edge(where) !== 'goes on') throw busy;
    };
    this.#untap = tapInto(folder, {
      opened: (sqlite) => {
        if (this.#user) this.#connections.set(sqlite, this.#user);
      },
      before: (sqlite, writes) => {
        const user = this.#connections.get(sqlite);
        if (!user?.clock.alive) throw busy;
        if (!writes) return;
        if (timeline.now < this.lockedUntil) throw busy;
        if (timeline.now < this.fullUntil) throw full;
        edge(user, 'beforeCommit');
      },
      after: (sqlite, writes) => {
        const user = this.#connections.get(sqlite);
        if (writes && user) edge(user, 'afterCommit');
      },
    });
  }

  use(user: StoreUser): Use {
    this.#user = user;
    return {
      settings: this.#settings,
      started: () => undefined,
      end: () => {
        for (const [sqlite, { clock }] of this.#connections)
          if (!clock.alive) {
            sqlite.close();
            this.#connections.delete(sqlite);
          }
      },
    };
  }

  reader(of: 'mirror' | 'secrets'): Reader | undefined {
    const path = of === 'mirror' ? this.#settings.database : this.#settings.secrets;
    return existsSync(path) ? new FileReader(path) : undefined;
  }

  holding(texts: readonly string[]): string[] {
    const files = readdirSync(this.#folder).filter((name) => name.startsWith('vendors.db'));
    return files.filter((name) => {
      const bytes = readFileSync(join(this.#folder, name));
      return texts.some((text) => bytes.includes(text));
    });
  }

  /** Nothing here waits for the outside, so a turn of the event loop is enough. */
  settled(): Promise<void> {
    return turn();
  }

  close(): void {
    this.#untap();
  }
}
