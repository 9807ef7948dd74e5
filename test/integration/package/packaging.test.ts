/** The files under config/ with which the program is installed as a service. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../../support/mirror-file.ts';
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

  it('starts the daemon again for ever, but not with settings or a command line that are wrong', () => {
    expect(text(unit)).toMatch(/^StartLimitIntervalSec=0$/m);
    expect(text(unit)).toMatch(/^Restart=always$/m);
    expect(text(unit)).toMatch(/^RestartPreventExitStatus=64 78$/m);
  });
});

describe('the container', () => {
  const compose = parse(text('container/compose.yaml')) as {
    services: Record<
      string,
      { read_only?: boolean; cap_drop?: string[]; volumes?: string[]; build?: { dockerfile: string } }
    >;
  };

  it('does not run as root, and writes to one volume', () => {
    const lines = text('container/Containerfile').split('\n');
    const [last] = lines.filter((line) => line.startsWith('USER ')).slice(-1);
    expect(last).toBe('USER node');
    expect(lines.findIndex((line) => line.startsWith('USER '))).toBeLessThan(
      lines.findIndex((line) => line.startsWith('ENTRYPOINT')),
    );
    expect(lines).toContain('VOLUME /var/lib/vendor-mirror');
    expect(compose.services['vendor-mirror']).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
  });

  it('is built from the file beside it, and answers its health check on the port of the listener', () => {
    const build = compose.services['vendor-mirror']?.build;
    expect(text(join('..', build?.dockerfile ?? ''))).toContain('http://127.0.0.1:8787/healthz');
  });

  it('shows the listener alone to the world', () => {
    expect(text('container/Caddyfile')).toContain('path /webhooks/* /healthz');
    expect(text('container/Caddyfile')).not.toContain('8788');
  });
});

describe.skipIf(isMissing(missing('python3', '--version')))('the job for launchd', () => {
  it('is a property list that serves and stays alive', () => {
    const read = 'import json, plistlib, sys; print(json.dumps(plistlib.load(open(sys.argv[1], "rb"))))';
    const { stdout } = spawnSync('python3', ['-c', read, at('launchd/vendor-mirror.plist')], { encoding: 'utf8' });
    const job = JSON.parse(stdout) as { ProgramArguments: string[] };
    expect(job).toMatchObject({ RunAtLoad: true, KeepAlive: true });
    expect(job.ProgramArguments.slice(1, 3)).toEqual(['serve', '-c']);
  });
});
