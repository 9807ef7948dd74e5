/** Packages as they lie in a folder `node_modules`, and as a bill of materials names them: `name@version`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Component {
  readonly name: string;
  readonly version: string;
}

interface Bill {
  readonly components: readonly (Component & { readonly properties: readonly { readonly value: string }[] })[];
}

const named = ({ name, version }: Component): string => `${name}@${version}`;

const read = (...path: readonly string[]): unknown => JSON.parse(readFileSync(join(...path), 'utf8'));

export function packageAt(folder: string): string {
  return named(read(folder, 'package.json') as Component);
}

/** Every package in a folder `node_modules`, and in those within. */
export function packagesIn(modules: string): string[] {
  const names = readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(modules, name)).map((part) => join(name, part)) : name,
    );
  return names
    .flatMap((name) => {
      const folder = join(modules, name);
      const within = readdirSync(folder).includes('node_modules') ? packagesIn(join(folder, 'node_modules')) : [];
      return [packageAt(folder), ...within];
    })
    .sort();
}

/** What the bill of the program in that folder says: all of it, what is loaded on every Node.js, and the SQLite driver from Node.js 22 on. */
export function billOf(folder: string): {
  readonly all: string[];
  readonly loaded: string[];
  readonly driver: string[];
} {
  const { components } = read(folder, 'dist/sbom.json') as Bill;
  const of = (...values: readonly string[]): string[] =>
    components
      .filter(({ properties }) => values.includes(properties[0]!.value))
      .map(named)
      .sort();
  return {
    all: components.map(named),
    loaded: of('loaded from node_modules'),
    driver: of('loaded from node_modules (Node.js 22 and newer)'),
  };
}
