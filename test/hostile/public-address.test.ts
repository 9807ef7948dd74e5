/** The proxies of the runbook, in front of a listener: none of their logs contains the address of a callback, however a request is broken off. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { packageRoot, temporaryFolder } from '../support/mirror-file.ts';
import { isMissing } from '../support/needed.ts';
import { certificatePath } from '../support/network/http-proxy.ts';
import { listen } from '../support/network/listen.ts';
import { freePort } from '../support/network/free-port.ts';

const runbook = readFileSync(join(packageRoot, 'config/RUNBOOK.md'), 'utf8');
const path = '/webhooks/6BApk/a-secret-part-of-an-address';
const heading = `POST ${path} HTTP/1.1\r\nHost: localhost\r\n`;
const length = 'Content-Length: 3\r\n';

/** Requests that are answered, refused by the proxy or by the listener, or never end. */
const requests = {
  whole: `${heading}${length}\r\na=b`,
  'of too large a body': `${heading}Content-Length: 2000000\r\n\r\n${'a'.repeat(2_000_000)}`,
  'of chunks without end': `${heading}Transfer-Encoding: chunked\r\n\r\n${`10000\r\n${'a'.repeat(65_536)}\r\n`.repeat(30)}`,
  'of two lengths': `${heading}${length}Content-Length: 5\r\n\r\na=bcd`,
  'of a length and of chunks': `${heading}${length}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'with a header that is none': `${heading}Bad Header\u0001: x\r\n${length}\r\na=b`,
  'with too large a header': `${heading}X: ${'a'.repeat(1_200_000)}\r\n\r\n`,
  'with a long query': `POST ${path}?${'a'.repeat(40_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  'without a host': `POST ${path} HTTP/1.1\r\n${length}\r\na=b`,
  'of another protocol': `POST ${path} HTTP/3.9\r\nHost: localhost\r\n\r\n`,
  'of no method': `p0st! ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  'with a bad escape': `POST ${path}/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  'of a path above all': `POST /../..${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  'that ends within its headers': `${heading}Conte`,
  'that ends within its body': `${heading}${length}\r\na`,
};

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

const proxies: Readonly<Record<string, Proxy>> = {
  nginx: {
    file: 'nginx.conf',
    settings: ({ folder, port, listener }) => {
      const [, server = ''] = /```nginx\n(.*?)```/s.exec(runbook) ?? [];
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

const missing = (name: string): string | undefined =>
  spawnSync(name, [name === 'nginx' ? '-v' : 'version']).status === 0 ? undefined : `no ${name}`;

/** Sends bytes, and leaves when anything is answered, or at once. */
async function send(port: number, bytes: string, awaitsAnswer: boolean): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', rejectUnauthorized: false });
  // A reset is an answer, too.
  const ended = new Promise((resolve) => socket.on('error', () => undefined).on('close', resolve));
  socket.once('data', () => socket.destroySoon());
  if (awaitsAnswer) socket.write(bytes, 'latin1');
  else socket.end(bytes, 'latin1');
  await ended;
}

describe.each(Object.entries(proxies))('L52 %s, as the runbook shows it', (name, { file, settings, args }) => {
  it.skipIf(isMissing(missing(name)))('logs no address of a callback', async () => {
    const folder = temporaryFolder();
    let arrived = 0;
    // Every other request is broken off, which proxies call an error.
    const listener = await listen(
      createServer((request, response) => {
        arrived += 1;
        if (arrived % 2 === 0) response.destroy();
        else request.resume().on('end', () => response.end());
      }),
    );
    const port = await freePort();
    writeFileSync(join(folder, file), settings({ folder, port, listener }));
    const child = spawn(name, args(join(folder, file)), { env: { ...process.env, HOME: folder } });
    onTestFinished(() => void child.kill('SIGKILL'));
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => (printed += text.toString()));
    const ended = once(child, 'close');
    const ready = async (): Promise<boolean> =>
      new Promise((resolve) => {
        const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => resolve(true));
        socket.on('secureConnect', () => socket.destroy()).on('error', () => resolve(false));
      });
    while (!(await ready())) expect([child.exitCode, printed]).toEqual([null, printed]);
    for (let round = 0; round < 2; round++)
      for (const [kind, request] of Object.entries(requests)) await send(port, request, !kind.includes(' end'));
    child.kill('SIGTERM');
    await ended;
    expect(arrived).toBeGreaterThan(1);
    const logs = readdirSync(folder).filter((one) => one.endsWith('.log'));
    const texts = [printed, ...logs.map((one) => readFileSync(join(folder, one), 'utf8'))];
    expect(texts.join('\n')).not.toContain('a-secret-part');
  });
});
