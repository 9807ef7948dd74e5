/** Packages of other people that a test has from the registry of npm, without being a dependency of the project. */
import { execFileSync, spawnSync } from 'node:child_process';

/** Why the packages cannot be had; undefined where they can. */
export function missingPackages(...packages: readonly string[]): string | undefined {
  const unknown = packages.find(
    (name) => spawnSync('npm', ['view', '--silent', '--fetch-retries=0', name, 'version']).status !== 0,
  );
  return unknown === undefined ? undefined : `${unknown} cannot be had from the registry of npm`;
}

/** Installs packages into a folder, and runs no script of theirs. */
export function install(folder: string, ...packages: readonly string[]): void {
  const quiet = ['--silent', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'];
  execFileSync('npm', ['install', ...quiet, '--prefix', folder, ...packages]);
}
