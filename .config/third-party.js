/**
 * Writes what of other people's work runs with the program: `dist/THIRD-PARTY-LICENCES.txt`, their licences in full, and `dist/sbom.json`,
 * a bill of materials (CycloneDX 1.5). Both hold what npm installs with the program and the packages that are compiled into it.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (path) => JSON.parse(readFileSync(path, 'utf8'));

const { packages: locked } = read('package-lock.json');

/** The packages that npm installs with the program, by the lock file: their folders. */
function installed() {
  // `npm sbom --omit=dev` leaves out what the tools of development need as well.
  return Object.entries(locked)
    .filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
    .map(([path]) => path);
}

/** A package and all that it needs, by the lock file: their folders. */
function closure(path, found = new Set()) {
  if (found.has(path)) return found;
  found.add(path);
  for (const name of Object.keys(locked[path].dependencies ?? {})) {
    const nested = `${path}/node_modules/${name}`;
    closure(nested in locked ? nested : `node_modules/${name}`, found);
  }
  return found;
}

/** The two versions of the SQLite driver: npm installs the one that fits the Node.js. */
const drivers = {
  prebuilt: closure('node_modules/better-sqlite3'),
  node20: closure('node_modules/better-sqlite3-node20'),
};

/** Folders of the packages whose code stands in the compiled program. */
function compiledIn() {
  const compiled = readdirSync('dist/cmd').map((file) => readFileSync(join('dist/cmd', file), 'utf8'));
  const sources = compiled.flatMap((text) => [...text.matchAll(/^\/\/ (node_modules\/(?:@[^/]+\/)?[^/]+)\//gm)]);
  return [...new Set(sources.map(([, folder]) => folder))];
}

/** Packages that come without the text of their licence: what they and their repositories say of it, and the text. */
const elsewhere = {
  'better-sqlite3': {
    license: 'MIT',
    source: 'This is the file LICENSE of version 13.',
    holder: '(c) 2017 Joshua Wise',
  },
  'node-addon-api': {
    license: 'MIT',
    source: 'This is the file LICENSE.md of its repository, https://github.com/nodejs/node-addon-api.',
    holder: '(c) 2017 [Node.js API collaborators](https://github.com/nodejs/node-addon-api#collaborators)',
  },
  'abstract-logging': {
    license: 'MIT',
    source:
      'Its Readme names the MIT License (http://jsumners.mit-license.org/), its package.json James Sumners as the author.',
    holder: '(c) James Sumners',
  },
  'pg-types': {
    license: 'MIT',
    source: 'Its README.md contains this text.',
    holder: '(c) 2014 Brian M. Carlson',
  },
  pgpass: {
    license: 'MIT',
    source: 'Its README.md contains this text.',
    holder: '(c) 2013-2016 Hannes Hörl',
  },
  'proxy-agent-negotiate': {
    license: 'MIT',
    source:
      'Its package.json names the licence; its repository, https://github.com/TooTallNate/proxy-agents, is that of https-proxy-agent.',
    holder: '(c) 2013 Nathan Rajlich <nathan@tootallnate.net>',
  },
  standardwebhooks: {
    license: 'MIT',
    source:
      'This is the file libraries/LICENSE of its repository, https://github.com/standard-webhooks/standard-webhooks.',
    holder: '(c) 2023 Svix (https://www.svix.com)',
  },
};

/** The text of the MIT License, below the line of its copyright: our own has it too. */
const mit = readFileSync('LICENSE', 'utf8')
  .replace(/^[\s\S]*?(?=Permission is hereby granted)/, '')
  .trim();

function described(folder, scope) {
  const entry = locked[folder] ?? {};
  // On Node.js 20, npm leaves out the driver for newer versions.
  const isHere = existsSync(folder) || !drivers.prebuilt.has(folder);
  const { version, license } = isHere ? read(join(folder, 'package.json')) : entry;
  const name = entry.name ?? folder.replace(/^.*node_modules\//, '');
  const texts = (isHere ? readdirSync(folder) : []).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
  const text = texts.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n');
  return { name, version, license, text: text || textFromElsewhere(name, license), scope };
}

function textFromElsewhere(name, license) {
  const known = elsewhere[name];
  if (known?.license !== license)
    throw new Error(`${name} (${license}) comes without the text of its licence: add it to .config/third-party.js.`);
  return `The package comes without the text of its licence. ${known.source}\n\nThe MIT License\n\nCopyright ${known.holder}\n\n${mit}`;
}

const packages = [
  ...installed().map((folder) =>
    described(folder, `loaded from node_modules${drivers.prebuilt.has(folder) ? ' (Node.js 22 and newer)' : ''}`),
  ),
  ...[...drivers.node20]
    .filter((folder) => locked[folder].dev)
    .map((folder) => described(folder, 'loaded from node_modules (Node.js 20)')),
  ...compiledIn().map((folder) => described(folder, 'compiled into dist')),
].sort((a, b) => (a.name < b.name ? -1 : 1));

const line = '-'.repeat(80);
const licences = packages.map(
  ({ name, version, license, text, scope }) =>
    `${line}\n${name} ${version} (${license}), ${scope}\n${line}\n\n${text}\n`,
);
writeFileSync('dist/THIRD-PARTY-LICENCES.txt', `The packages with which vendor-mirror runs.\n\n${licences.join('\n')}`);

const { name, version, license } = read('package.json');
const purl = (of) => `pkg:npm/${of.name.replace('@', '%40')}@${of.version}`;
const component = (of) => ({
  type: 'library',
  'bom-ref': purl(of),
  name: of.name,
  version: of.version,
  licenses: [/[ (]/.test(of.license) ? { expression: of.license } : { license: { id: of.license } }],
  purl: purl(of),
  properties: [{ name: 'vendor-mirror:scope', value: of.scope }],
});
const bill = {
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  metadata: {
    component: {
      type: 'application',
      name,
      version,
      licenses: [{ license: { id: license } }],
      purl: purl({ name, version }),
    },
  },
  components: packages.map(component),
};
writeFileSync('dist/sbom.json', `${JSON.stringify(bill, null, 2)}\n`);
