/** Prometheus and its tool, from Debian's package `prometheus`. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { freePort } from '../testbed/program.ts';

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

/** A Prometheus that scrapes `target` (`host:port`) each second as the job `vendor-mirror`; it ends with the test. */
export async function prometheus(target: string): Promise<{ query: (expression: string) => Promise<Sample[]> }> {
  const [home, port] = [folder(), await freePort()];
  writeFileSync(
    join(home, 'prometheus.yml'),
    JSON.stringify({
      scrape_configs: [
        {
          job_name: 'vendor-mirror',
          scrape_interval: '1s',
          scrape_timeout: '1s',
          static_configs: [{ targets: [target] }],
        },
      ],
    }),
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
  const query = async (expression: string): Promise<Sample[]> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const { data, error } = (await answer.json()) as { data?: { result: Sample[] }; error?: string };
    if (!data) throw new Error(`${expression}: ${error}`);
    return data.result;
  };
  // A rate needs two scrapes.
  const scraped = async (): Promise<boolean> =>
    query('count_over_time(vendor_mirror_info[1h]) > 2').then(
      (result) => result.length > 0,
      () => false,
    );
  while (!(await scraped())) {
    if (child.exitCode !== null) throw new Error(`prometheus ended with ${child.exitCode}`);
    await later(100);
  }
  return { query };
}
