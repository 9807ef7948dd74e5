/** Prometheus and its tool, from Debian's package `prometheus`. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort } from '../network/free-port.ts';

/** What is missing for such tests; undefined where nothing is. */
export function missingPrometheus(): string | undefined {
  const missing = ['promtool', 'prometheus'].filter((tool) => spawnSync(tool, ['--version']).status !== 0);
  return missing.length === 0 ? undefined : `${missing.join(' and ')} is not installed (Debian's package prometheus)`;
}

export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'vendor-mirror-prometheus-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

/**
 * A Prometheus that has scraped twice, as the job `vendor-mirror`, what `render` gives; it ends with the test.
 * @throws Error if it ended without being stopped.
 */
export async function prometheus(
  render: () => Promise<string>,
): Promise<{ query: (expression: string) => Promise<Sample[]> }> {
  const [home, port] = [folder(), await freePort()];
  const target = await scraped(render);
  const scrape = { scrape_interval: '1s', scrape_timeout: '1s', static_configs: [{ targets: [target.address] }] };
  writeFileSync(
    join(home, 'prometheus.yml'),
    JSON.stringify({ scrape_configs: [{ job_name: 'vendor-mirror', ...scrape }] }),
  );
  const child = spawn(
    'prometheus',
    [
      `--config.file=${home}/prometheus.yml`,
      `--storage.tsdb.path=${home}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    { stdio: 'ignore' },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`prometheus ended with ${code}`);
  });
  await Promise.race([target.twice, ended]);
  return {
    async query(expression) {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`);
      const { data, error } = (await answer.json()) as { data?: { result: Sample[] }; error?: string };
      if (!data) throw new Error(`${expression}: ${error}`);
      return data.result;
    },
  };
}

/** A server that answers each scrape with what `render` gives. `twice` resolves with the third: what the two before brought is stored by then. */
async function scraped(render: () => Promise<string>): Promise<{ address: string; twice: Promise<void> }> {
  let scrapes = 0;
  let enough = (): void => undefined;
  const twice = new Promise<void>((resolve) => (enough = resolve));
  const server = createServer((_, response) => {
    scrapes += 1;
    if (scrapes === 3) enough();
    void render().then((text) => response.end(text));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, twice };
}
