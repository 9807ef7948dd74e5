/** The proxies of the runbook, as it shows them, on ports of this machine. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect, onTestFinished } from 'vitest';
import { packageRoot, temporaryFolder } from '../mirror-file.ts';
import { certificatePath } from './http-proxy.ts';
import { freePort } from './free-port.ts';

const runbook = readFileSync(join(packageRoot, 'config/RUNBOOK.md'), 'utf8');

/** Replaces what stands there once. */
function replaced(text: string, by: Readonly<Record<string, string>>): string {
  return Object.entries(by).reduce((before, [from, to]) => {
    expect(before).toContain(from);
    return before.replace(from, to);
  }, text);
}

interface Proxy {
  readonly file: string;
  /** What the runbook shows, made complete. */
  readonly settings: (place: { folder: string; port: number; listener: number }) => string;
  readonly args: (file: string) => string[];
}

const [certificate, key] = [certificatePath('valid'), certificatePath('key')];

const proxies: Readonly<Record<ProxyName, Proxy>> = {
  nginx: {
    file: 'nginx.conf',
    settings: ({ folder, port, listener }) => {
      const [, server = ''] = /```nginx\n((?:(?!```).)*listen 443.*?)```/s.exec(runbook) ?? [];
      const own = replaced(server, {
        'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
        'mirror.example.com;': 'localhost;',
        '/etc/ssl/mirror.example.com.pem': certificate,
        '/etc/ssl/mirror.example.com.key': key,
        '127.0.0.1:8787': `127.0.0.1:${listener}`,
      });
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      return `daemon off;
pid ${folder}/pid;
error_log ${folder}/error.log info;
events {}
http {
access_log ${folder}/access.log;
${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')}
${own}
}
`;
    },
    args: (file) => ['-e', 'stderr', '-c', file],
  },
  caddy: {
    file: 'Caddyfile',
    settings: ({ port, listener }) => {
      const [, file = ''] = /With Caddy.*?```\n(.*?)```/s.exec(runbook) ?? [];
      return replaced(file, {
        '{\n': '{\n\tadmin off\n\tauto_https off\n',
        'mirror.example.com {\n': `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}\n`,
        '127.0.0.1:8787': `127.0.0.1:${listener}`,
      });
    },
    args: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
  },
};

export const proxyNames = ['nginx', 'caddy'] as const;
type ProxyName = (typeof proxyNames)[number];

/** Why the proxy cannot be run; undefined where it can. */
export const missingProxy = (name: ProxyName): string | undefined =>
  spawnSync(name, [name === 'nginx' ? '-v' : 'version']).status === 0 ? undefined : `no ${name}`;

interface RunningProxy {
  /** With TLS, for `localhost`. */
  readonly port: number;
  /** Ends it. @returns all that it has logged. */
  end(): Promise<string>;
}

/** Starts the proxy before a listener on that port, and waits until it answers. */
export async function startProxy(name: ProxyName, listener: number): Promise<RunningProxy> {
  const { file, settings, args } = proxies[name];
  const folder = temporaryFolder();
  const port = await freePort();
  writeFileSync(join(folder, file), settings({ folder, port, listener }));
  const child = spawn(name, args(join(folder, file)), { env: { ...process.env, HOME: folder } });
  onTestFinished(() => void child.kill('SIGKILL'));
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (printed += text.toString()));
  const ended = once(child, 'close');
  const ready = async (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => resolve(true));
      socket.on('secureConnect', () => socket.destroy()).on('error', () => resolve(false));
    });
  while (!(await ready())) expect([child.exitCode, printed]).toEqual([null, printed]);
  return {
    port,
    async end() {
      child.kill('SIGTERM');
      await ended;
      const logs = readdirSync(folder).filter((one) => one.endsWith('.log'));
      return [printed, ...logs.map((one) => readFileSync(join(folder, one), 'utf8'))].join('\n');
    },
  };
}
