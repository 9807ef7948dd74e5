/** What pages load besides: style, script and mark, compiled into one folder. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Asset {
  readonly type: string;
  readonly read: () => Promise<string>;
}

const types = {
  'page.css': 'text/css; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;

/** By its path; each file is read once. */
export function assets(folder: string): ReadonlyMap<string, Asset> {
  return new Map(
    Object.entries(types).map(([name, type]) => {
      let text: Promise<string> | undefined;
      return [`/${name}`, { type, read: () => (text ??= readFile(join(folder, name), 'utf8')) }];
    }),
  );
}
