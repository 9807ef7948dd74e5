/** The files under config/ with which the program is installed as a service. */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseDuration } from '../../../src/domain/duration.ts';
import { parseSettings } from '../../../src/settings/parse.ts';
import { packageRoot, temporaryFolder } from '../../support/mirror-file.ts';
import { listen } from '../../support/network/listen.ts';
import { isMissing } from '../../support/needed.ts';

const at = (name: string): string => join(packageRoot, 'config', name);
const text = (name: string): string => readFileSync(at(name), 'utf8');

/** Why a tool cannot be run; undefined where it can. */
function missing(tool: string, ...args: string[]): string | undefined {
  return spawnSync(tool, args).status === 0 ? undefined : `${tool} is not installed`;
}

describe('the unit for systemd', () => {
  const unit = 'systemd/vendor-mirror.service';

  it.skipIf(isMissing(missing('systemd-analyze', '--version')))('exposes less than 2.0 of 10', () => {
    const { status, stdout } = spawnSync('systemd-analyze', ['security', '--offline=yes', '--threshold=19', at(unit)], {
      encoding: 'utf8',
    });
    expect(stdout).toMatch(/Overall exposure level for vendor-mirror\.service: [01]\.\d OK/);
    expect(status).toBe(0);
  });

  it.skipIf(isMissing(missing('systemd-analyze', '--version')))('passes systemd-analyze verify', () => {
    const place = join(temporaryFolder(), 'vendor-mirror.service');
    // The program is not installed where the tests run.
    writeFileSync(place, text(unit).replace('/usr/local/bin/vendor-mirror', process.execPath));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', place], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  it('L95 runs the program where the runbook installs it, from a package that holds what the runbook names', () => {
    const { name, bin } = JSON.parse(text('../package.json')) as { name: string; bin: Record<string, string> };
    const [, prefix = ''] =
      /^sudo npm install --global --prefix (\S+) vendor-mirror-\*\.tgz/m.exec(text('RUNBOOK.md')) ?? [];
    const [command = '', entry = ''] = Object.entries(bin)[0] ?? [];
    const [, program] = /^ExecStart=(\S+) serve /m.exec(text(unit)) ?? [];
    expect(program).toBe(`${prefix}/bin/${command}`);
    const installed = `${prefix}/lib/node_modules/${name}/`;
    const named = `${text('RUNBOOK.md')}\n${text(unit)}`
      .split(installed)
      .slice(1)
      .map((rest) => /^\S+/.exec(rest)?.[0]);
    const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: packageRoot,
      encoding: 'utf8',
    });
    const [packed] = JSON.parse(stdout) as { files: { path: string }[] }[];
    const files = packed?.files.map(({ path }) => path);
    expect(named.length).toBeGreaterThan(1);
    expect(files).toEqual(expect.arrayContaining([entry, ...named]));
  });

  it('L95 is not hidden from a home folder, and nothing says to take the package from a registry', () => {
    expect(text(unit)).toMatch(/^ProtectHome=yes$/m);
    expect(/^ExecStart=(?!\/home\/|\/root\/)\//m.test(text(unit))).toBe(true);
    const documents = ['../README.md', 'RUNBOOK.md', 'README.md', 'COMMANDS.md', unit, 'launchd/vendor-mirror.plist'];
    for (const document of documents) {
      expect(text(document)).not.toMatch(/npmjs\.com\/package\/vendor-mirror|npm install [^\n`]*vendor-mirror@/);
      expect(text(document)).not.toMatch(/^ *npm install --global \.(?= |$)/m);
    }
  });

  it('starts the daemon again for ever, but not with settings or a command line that are wrong', () => {
    expect(text(unit)).toMatch(/^StartLimitIntervalSec=0$/m);
    expect(text(unit)).toMatch(/^Restart=always$/m);
    expect(text(unit)).toMatch(/^RestartPreventExitStatus=64 78$/m);
  });
});

describe('the container', () => {
  interface ContainerService {
    readonly image?: string;
    readonly build?: { readonly dockerfile: string };
    readonly read_only?: boolean;
    readonly cap_drop?: string[];
    readonly security_opt?: string[];
    readonly volumes?: string[];
    readonly ports?: string[];
    readonly stop_grace_period?: string;
    readonly healthcheck?: {
      readonly test: string[];
      readonly interval: string;
      readonly timeout: string;
      readonly start_period: string;
      readonly retries: number;
    };
    readonly network_mode?: string;
    readonly ulimits?: { readonly core?: number };
    readonly profiles?: string[];
  }
  const compose = parse(text('container/compose.yaml')) as {
    services: Record<string, ContainerService>;
    volumes: object;
  };
  const service = compose.services['vendor-mirror'];

  /** The instructions of the file, each on one line, by stage. */
  const stages = text(join('..', service?.build?.dockerfile ?? ''))
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .reduce<string[][]>((found, line) => {
      if (line.startsWith('FROM ')) found.push([]);
      found.at(-1)?.push(line);
      return found;
    }, []);
  const last = stages.at(-1) ?? [];
  const of = (instruction: string): string[] =>
    last.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.slice(instruction.length + 1));

  it('is made in two stages, of which the last holds no compiler and no source', () => {
    expect(stages).toHaveLength(2);
    const copies = of('COPY');
    expect(copies).toEqual(['--from=build /app /app']);
    expect(of('ADD')).toEqual([]);
    expect(of('FROM')[0]).toMatch(/-slim$/);
    expect(last.join('\n')).not.toMatch(/apt-get|npm |curl|wget/);
  });

  it('is built without secrets, mirrors or installed packages of the project folder', () => {
    const ignored = text('container/Containerfile.dockerignore').split('\n');
    expect(ignored).toEqual(
      expect.arrayContaining(['.git', 'node_modules', 'dist', 'data', '**/*.db', 'config/container/token']),
    );
  });

  it('L107 leaves no dump of the memory of the program, as the unit does', () => {
    expect(service?.ulimits).toEqual({ core: 0 });
    expect(text('systemd/vendor-mirror.service')).toMatch(/^LimitCORE=0$/m);
  });

  it('names a version of every image, in full', () => {
    const images = [
      ...stages.map(([from = '']) => from.split(' ')[1] ?? ''),
      ...Object.values(compose.services).flatMap(({ image }) => image ?? []),
    ];
    expect(images.length).toBeGreaterThan(2);
    for (const image of images) expect(image).toMatch(/^[\w.-]+\.[a-z]+\/[\w/-]+:v?\d[\w.-]*$/);
  });

  it('does not run as root, and writes to one volume, which belongs to its user', () => {
    expect(of('USER')).toEqual(['node']);
    const at = (instruction: string): number => last.findIndex((line) => line.startsWith(`${instruction} `));
    expect(at('USER')).toBeLessThan(at('VOLUME'));
    expect(at('USER')).toBeLessThan(at('ENTRYPOINT'));
    expect(of('VOLUME')).toEqual(['/var/lib/vendor-mirror']);
    expect(of('RUN').join()).toContain('install -d -o node -g node -m 0750 /var/lib/vendor-mirror');
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(service?.ports).toBeUndefined();
    const writable = service?.volumes?.filter((volume) => !volume.endsWith(':ro')) ?? [];
    expect(writable).toEqual(['mirror:/var/lib/vendor-mirror']);
    expect(Object.keys(compose.volumes)).toContain('mirror');
  });

  it('starts the program directly, so that signals reach it, and allows it more time to stop than it needs', () => {
    for (const instruction of ['ENTRYPOINT', 'CMD'])
      expect(Array.isArray(JSON.parse(of(instruction)[0] ?? ''))).toBe(true);
    expect(JSON.parse(of('ENTRYPOINT')[0] ?? '')).toEqual(['vendor-mirror']);
    expect(parseDuration(service?.stop_grace_period ?? '')).toBeGreaterThan(10_000);
  });

  it('is healthy while the port of the listener answers with 200, and not if nothing is answered', async () => {
    const [options = '', command = ''] = (of('HEALTHCHECK')[0] ?? '').split(' CMD ');
    expect(options).toMatch(/--interval=\d+s --timeout=\d+s --start-period=\d+s/);
    const [, ...args] = JSON.parse(command) as string[];
    const [code = ''] = args.slice(-1);
    expect(code).toContain('http://127.0.0.1:8787/healthz');
    expect(code).toContain('timeout(4000)');
    const check = (port: number, limit = '4000'): Promise<number | null> =>
      new Promise((resolve) => {
        const child = spawn(process.execPath, ['-e', code.replace('8787', String(port)).replace('4000', limit)]);
        child.once('close', (status) => resolve(status));
      });
    const answering = (status: number): Promise<number> =>
      listen(createServer((request, response) => response.writeHead(request.url === '/healthz' ? status : 404).end()));
    expect(await check(await answering(200))).toBe(0);
    expect(await check(await answering(503))).toBe(1);
    expect(await check(await listen(createServer(() => undefined)), '200')).toBe(1);
    expect(await check(1)).toBe(1);
  });

  it('L105 has the same health check in the compose file, because an image of the OCI format holds none', () => {
    const [options = '', command = ''] = (of('HEALTHCHECK')[0] ?? '').split(' CMD ');
    const { test, interval, timeout, start_period, retries } = service?.healthcheck ?? {};
    expect(test).toEqual(['CMD', ...(JSON.parse(command) as string[])]);
    expect(options.trim()).toBe(
      `--interval=${interval} --timeout=${timeout} --start-period=${start_period} --retries=${retries}`,
    );
  });

  it('may run twice beside a PostgreSQL: as one alone does, with settings that are valid, and both behind the proxy', () => {
    const beside = parse(text('container/compose-postgres.yaml'), { merge: true }) as {
      services: Record<string, ContainerService & { readonly hostname?: string; readonly secrets?: string[] }>;
      secrets: Record<string, { readonly file: string }>;
    };
    const { postgres, caddy, ...daemons } = beside.services;
    expect(Object.keys(daemons)).toEqual(['books-1', 'books-2']);
    const alike = [
      'build',
      'restart',
      'read_only',
      'tmpfs',
      'cap_drop',
      'security_opt',
      'ulimits',
      'stop_grace_period',
    ];
    for (const [name, daemon] of Object.entries(daemons)) {
      const own = Object.fromEntries(Object.entries(service ?? {}).filter(([key]) => alike.includes(key)));
      expect(daemon).toMatchObject({ ...own, healthcheck: service?.healthcheck, hostname: name });
      expect(daemon.volumes).toEqual(['./mirror.yaml:/etc/vendor-mirror/mirror.yaml:ro']);
      expect(daemon.ports).toBeUndefined();
      expect(text('container/Caddyfile.postgres')).toMatch(new RegExp(`reverse_proxy @listener .*\\b${name}:8787\\b`));
    }
    const [every = ''] = /(?<=health_interval )\S+/.exec(text('container/Caddyfile.postgres')) ?? [];
    expect(parseDuration(every)).toBeLessThan(2_000);
    expect(caddy?.volumes?.[0]).toMatch(/^\.\/Caddyfile\.postgres:/);
    expect(postgres?.ports).toBeUndefined();
    for (const { image } of [postgres ?? {}, caddy ?? {}]) expect(image).toMatch(/^docker\.io\/[\w/-]+:\d+$/);

    const settings = parseSettings({
      defaults: text('default.yaml'),
      name: 'mirror.yaml',
      text: text('container/compose-postgres.settings.yaml'),
      env: {},
      readFile: () => 'of-the-secret-file',
    });
    expect(settings.postgres).toMatchObject({ secretsKeyFile: '/run/secrets/secrets-key' });
    expect(settings.postgres?.to.hosts).toMatchObject([{ host: 'postgres', port: 5432 }]);
    expect(settings.roles).toEqual(['listen', 'work']);
    const files = settings.secretFiles.filter((file) => file.startsWith('/run/secrets/'));
    const mounted = (daemons['books-1']?.secrets ?? []).map((name) => `/run/secrets/${name}`);
    expect([...files].sort()).toEqual(mounted.sort());
    const ignored = text('container/Containerfile.dockerignore').split('\n');
    for (const { file } of Object.values(beside.secrets))
      expect(ignored).toContain(`config/container/${file.replace('./', '')}`);
  });

  it('L105 has a Prometheus that reaches the admin port, and that nobody outside reaches', () => {
    const { prometheus: metrics } = compose.services;
    expect(metrics).toMatchObject({ profiles: ['metrics'], network_mode: 'service:vendor-mirror' });
    expect(metrics?.ports).toBeUndefined();
    const mounted = new Map(metrics?.volumes?.map((volume) => [volume.split(':')[1], volume.split(':')[0]]));
    const settings = parse(text(join('container', mounted.get('/etc/prometheus/prometheus.yml') ?? ''))) as {
      rule_files: string[];
      scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
    };
    const { host, port } = (parse(text('default.yaml')) as { admin: { host: string; port: number } }).admin;
    expect(settings.scrape_configs).toEqual([
      { job_name: 'vendor-mirror', static_configs: [{ targets: [`${host}:${port}`] }] },
    ]);
    for (const rules of settings.rule_files)
      expect(text(join('container', mounted.get(`/etc/prometheus/${rules}`) ?? ''))).toContain('job="vendor-mirror"');
  });

  it('publishes only the port of the listener', () => {
    expect(text('container/Caddyfile')).toContain('path /webhooks/* /healthz');
    expect(text('container/Caddyfile')).not.toContain('8788');
  });
});

describe.skipIf(isMissing(missing('python3', '--version')))('the job for launchd', () => {
  it('is a property list that runs serve and restarts it', () => {
    const read = 'import json, plistlib, sys; print(json.dumps(plistlib.load(open(sys.argv[1], "rb"))))';
    const { stdout } = spawnSync('python3', ['-c', read, at('launchd/vendor-mirror.plist')], { encoding: 'utf8' });
    const job = JSON.parse(stdout) as { ProgramArguments: string[] };
    expect(job).toMatchObject({ RunAtLoad: true, KeepAlive: true });
    expect(job.ProgramArguments.slice(1, 3)).toEqual(['serve', '-c']);
  });
});
