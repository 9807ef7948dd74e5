/** Starts that are refused leave nothing that was not there before. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { testbed } from '../../support/testbed.ts';

const service = 'accounts: [6BApk]\nservice: { baseUrl: "https://127.0.0.1:1", auth: { accessToken: "a-token" } }\n';
const files = 'database: new/data/vendors.db\nsecrets: new/secrets/secrets.db\n';
const ports = 'listener: { port: 0 }\nadmin: { port: 0 }\n';

async function takenPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
}

const tree = (folder: string): string[] => readdirSync(folder, { recursive: true }).map(String).sort();

it.each<[string, string, string, number]>([
  ['serve', 'a view that is not there', `${files}${ports}publish: [{ path: a.csv, view: nosuch }]`, 78],
  ['serve', 'a port that is taken', `${files}listener: { port: PORT }\nadmin: { port: 0 }`, 69],
  ['serve', 'secrets that are none', `database: new/data/vendors.db\nsecrets: none.db\n${ports}`, 74],
  ['sync', 'secrets that are none', 'database: new/data/vendors.db\nsecrets: none.db', 74],
])('%s with %s leaves nothing behind', async (command, _, settings, status) => {
  const at = await testbed({ level: 'program', service: {} });
  const file = join(at.folder, 'refused.yaml');
  writeFileSync(file, service + settings.replace('PORT', String(await takenPort())));
  writeFileSync(join(at.folder, 'none.db'), 'This is no database.');
  const before = tree(at.folder);
  expect(await at.run(command, '-c', file)).toMatchObject({ status });
  expect(tree(at.folder)).toEqual(before);
  expect(readFileSync(join(at.folder, 'none.db'), 'utf8')).toBe('This is no database.');
});
