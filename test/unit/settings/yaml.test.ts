/** What is said of a settings file that cannot be used, when a token stands where it goes wrong. */
import { execFileSync } from 'node:child_process';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parseSettings, type Settings } from '../../../src/settings/parse.ts';
import { MirrorError } from '../../../src/domain/errors.ts';

import { packageRoot } from '../../support/mirror-file.ts';
import { testbed } from '../../support/testbed.ts';

const defaults = readFileSync(join(packageRoot, 'config/default.yaml'), 'utf8');

const canary = 'canary7c19';
const head =
  'accounts: [6BApk]\ndatabase: /nowhere/vendors.db\nservice:\n  baseUrl: https://service.example\n  auth:\n';

/** Ways to go wrong, each with the token in or beside the place. */
const wrong: readonly [string, string][] = [
  ['an alias with properties', `    accessToken: &${canary} *${canary}`],
  ['an anchor without a name', `    accessToken: & ${canary}`],
  ['an alias without an anchor', `    accessToken: *${canary}`],
  ['an alias that ends in a colon', `    accessToken: *${canary}:`],
  ['a directive', `    accessToken: x\n...\n%${canary} ${canary}\n---\na: 1`],
  ['an unknown escape', `    accessToken: "\\${canary}"`],
  ['a broken escape', `    accessToken: "\\uZ${canary}"`],
  ['an indentation that does not fit', `    accessToken: x\n   ${canary}: y`],
  ['properties in the wrong order', `    accessToken: !!str &${canary}\n    - ${canary}`],
  ['a reserved first character', `    accessToken: @${canary}`],
  ['another reserved first character', `    accessToken: \`${canary}`],
  ['a colon in the value', `    accessToken: ${canary}: ${canary}`],
  ['lines of keys in brackets', `    { accessToken:\n      - ${canary}\n  }`],
  ['a key twice', `    accessToken: ${canary}\n    accessToken: ${canary}`],
  ['a key that is a list', `    ? [${canary}]\n    : x`],
  ['a template that was not filled in', `    accessToken: {{ ${canary} }}`],
  ['a template at the top', `    accessToken: x\nadmin: { {${canary}}: 1 }`],
  ['a key that is too long', `    ${canary.repeat(200)}: x`],
  ['a quote that is not closed', `    accessToken: "${canary}`],
  ['another quote that is not closed', `    accessToken: '${canary}`],
  ['a bracket that is not closed', `    { accessToken: ${canary}`],
  ['a bracket too many', `    accessToken: ${canary} ]\n    }`],
  ['a key over several lines', `    accessToken\n      ${canary}: x`],
  ['two anchors', `    accessToken: &a &${canary} x`],
  ['two documents', `    accessToken: x\n---\n${canary}: ${canary}\n`],
  ['two tags', `    accessToken: !a !${canary} x`],
  ['an unknown tag', `    accessToken: !${canary} x`],
  ['an unknown tag with a handle', `    accessToken: !${canary}!x y`],
  ['an unknown tag on a map', `    accessToken: !${canary} { a: b }`],
  ['a tag that does not fit', `    accessToken: !!map ${canary}`],
  ['a tab as indentation', `    accessToken:\n\t${canary}: x`],
  ['words after a closing quote', `    accessToken: "x" ${canary}`],
  ['words after a block sign', `    accessToken: | ${canary}\n      x`],
  ['no colon', `    accessToken ${canary}`],
  ['no colon, beside another key', `    accessToken ${canary}\n    oauth: x`],
  ['too deep', `    accessToken: ${'['.repeat(100_000)}${canary}`],
  ['a key of another place', `    accessToken: x\n${canary}: x`],
  ['a value without its key', `    accessToken: x\nadmin: { token, ${canary} }`],
  ['letters without a key', `    accessToken: x\nadmin: { token, canaryword }`],
  ['a value without its key, above', `    accessToken: x\n? ${canary}\n`],
  ['a key that holds a missing variable', `    accessToken: x\n${canary}: { ${canary}: "\${MISSING}" }`],
  ['a value of another type', `    accessToken: { ${canary}: x }`],
  ['a value in an account', `    accessToken: x\nadmin: { host: [${canary}] }`],
  ['no value that anything takes', `    accessToken: x\nsync: { lag: ${canary} }\nadmin: { port: ${canary} }`],
  ['a schedule that is none', `    accessToken: x\nschedule: { pull: "${canary} * * * *", timezone: ${canary} }`],
  ['a secret for the name of its file', `    accessToken: x\nadmin: { tokenFile: ${canary} }`],
  ['a secret for the name of a variable', `    accessToken: "\${${canary}}"`],
  ['a secret that no header can carry', `    accessToken: "${canary}\\u00e9"`],
  ['an address with a user', `    accessToken: x\nlistener: { publicUrl: "https://${canary}@x.example" }`],
];

it.each(wrong)('K43 no text of the settings is shown, only its place: %s', async (_, rest) => {
  const written = [vi.spyOn(console, 'warn'), vi.spyOn(process, 'emitWarning')];
  onTestFinished(() => void vi.restoreAllMocks());
  const line = await testbed({ level: 'command' });
  writeFileSync(line.settings, `${head}${rest}\n`);
  for (const argv of [['status'], ['status', '--json'], ['serve', '--json', '--log-level', 'trace']]) {
    const { status, stdout, stderr } = await line.run(...argv);
    expect(status).toBe(78);
    expect(stdout + stderr).not.toMatch(/canary/i);
    expect(stderr).toMatch(/line \d+/);
    if (argv.includes('--json')) expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'settings_invalid' } });
  }
  expect(written.flatMap(({ mock }) => mock.calls)).toEqual([]);
});

it('K43 a file of nothing but a token is refused without it', () => {
  for (const text of [canary, `- ${canary}`, `"${canary}"`, `${canary}:`, `? ${canary}`])
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining(canary) as string }),
    );
});

it.each(['61', `1-${canary}`, `*/${canary}`, canary])(
  'K43 a schedule (minute %s) is refused by its field alone',
  async (minute) => {
    const line = await testbed({ level: 'command' });
    writeFileSync(line.settings, `${head}    accessToken: x\nschedule: { pull: "${minute} ${canary} * * *" }\n`);
    const { status, stderr } = await line.run('serve');
    expect(status).toBe(78);
    expect(stderr).toContain('schedule.pull: the minute is not valid in a cron schedule; the hour is not');
    expect(stderr).not.toContain(canary);
  },
);

it('K43 the place is given by line and column', () => {
  expect(() => parse(`${head}    accessToken: @x`)).toThrow(
    'mirror.yaml has one problem:\n  line 6, column 18: a value begins with a character that needs quotes',
  );
});

/** Nine levels of ten aliases each, and a tenth: a thousand million values. */
const bomb = Array.from({ length: 9 }, (_, n) => {
  const items = n === 0 ? 'x' : Array.from({ length: 10 }, () => `*a${n - 1}`).join();
  return `a${n}: &a${n} [${items}]`;
}).join('\n');

it.each([
  ['an alias without an anchor', `    accessToken: *there`, /line 6, column 18: an alias \(\*name\) has no anchor/],
  ['a value that means itself', `    accessToken: &it { it: *it }`, /line 6, column 28: an alias \(\*name\) is inside/],
  ['a circle over two', `    accessToken: &it\n      - &other [*it]\n      - *other`, /line 7, column 17: .*is inside/],
  ['a bomb of aliases', `    accessToken: x\n${bomb}`, /the aliases \(\*name\) make more of the file/],
  ['too many aliases', `    accessToken: x\na: &a 1\nb: [${'*a,'.repeat(101)}]`, /more than 100 aliases/],
  ['a merge of what is no map', `    accessToken: x`, /the aliases|line/],
  ['a depth of brackets', `    accessToken: ${'['.repeat(100_000)}`, /line 6: the values are nested too deeply/],
  ['a depth of dashes', `    accessToken:\n${'- '.repeat(100_000)}`, /line 7: the values are nested too deeply/],
  [
    'a depth of lines',
    Array.from({ length: 1_000 }, (_, n) => `${' '.repeat(n + 4)}a:`).join('\n'),
    /nested too deeply/,
  ],
])('K49 %s is a sentence with its place, and exit 78', async (name, rest, reason) => {
  const line = await testbed({ level: 'command' });
  const merge = name.startsWith('a merge') ? '%YAML 1.1\n---\nx: &x 1\ny: { <<: *x }\n' : '';
  writeFileSync(line.settings, `${merge}${head}${rest}\n`);
  const { status, stdout, stderr } = await line.run('status', '--json');
  expect([status, stderr]).toEqual([78, expect.stringMatching(reason)]);
  expect(stderr).not.toMatch(/^ {4}at /m);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'settings_invalid' } });
});

it('K49 an alias is what its anchor holds', () => {
  const settings = parse(`${head}    accessToken: x\nsync: { lag: &short 7s, secondLook: *short }\n`);
  expect(settings.sync).toMatchObject({ lag: 7_000, secondLook: 7_000 });
});

it('K49 no key gets past the shape of the settings', () => {
  for (const key of ['__proto__', 'constructor', 'toString'])
    expect(() => parse(`${head}    accessToken: x\n${key}: { port: 1 }\n`)).toThrow('unknown key');
});

describe('the file of the settings', () => {
  it.each([
    ['a device', () => '/dev/zero', /it is not a regular file/],
    ['another device', () => '/dev/null', /it is not a regular file/],
    ['a folder', (folder: string) => folder, /it is not a regular file/],
    ['a pipe that nobody writes to', (folder: string) => pipe(folder), /it is not a regular file/],
    ['a file of any size', (folder: string) => large(folder), /it is larger than 1048576 bytes/],
    ['no text', (folder: string) => latin(folder), /it is not UTF-8 text/],
  ])('K49 is refused with 78 where it is %s', async (_, pathIn, reason) => {
    const line = await testbed({ level: 'command' });
    const path = pathIn(line.folder);
    const { status, stderr } = await line.runBare('status', '-c', path);
    expect([status, stderr]).toEqual([78, expect.stringMatching(reason)]);
    writeFileSync(line.settings, `${head}    accessToken: x\nadmin: { tokenFile: ${path} }\n`);
    expect(await line.run('status')).toMatchObject({
      status: 78,
      stderr: expect.stringContaining('cannot read') as string,
    });
  });

  function pipe(folder: string): string {
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    return join(folder, 'pipe');
  }
  function large(folder: string): string {
    writeFileSync(join(folder, 'large'), '');
    truncateSync(join(folder, 'large'), 2 ** 41);
    return join(folder, 'large');
  }
  function latin(folder: string): string {
    writeFileSync(join(folder, 'latin'), Buffer.from('# caf\xe9', 'latin1'));
    return join(folder, 'latin');
  }
});

describe('a value that is one variable', () => {
  const env = { PORT: '8080', PERCENT: '2.5', WORD: 'word', NUMBER: '12', PAGE: 'p' };
  const withEnv = (yaml: string): Settings => parse(`${head}    accessToken: x\n${yaml}`, env);

  it('K49 is of the type that its key takes', () => {
    const settings = withEnv(
      'listener: { port: "${PORT}" }\nsync: { breaker: { vendors: "${NUMBER}", percent: "${PERCENT}" } }\nadmin: { token: "${NUMBER}" }',
    );
    expect(settings.listener.port).toBe(8080);
    expect(settings.sync.breaker).toEqual({ vendors: 12, percent: 2.5 });
    expect(settings.admin.token?.reveal()).toBe('12');
  });

  it('K49 inside a value that may be left out, too', () => {
    const text = 'accounts: [a]\nsandbox: { vendors: "${NUMBER}", seed: "${NUMBER}", churn: "${PERCENT}" }';
    expect(parse(text, env).sandbox).toEqual({ vendors: 12, seed: 12, churn: 2.5, records: 'plain', history: 0 });
  });

  it.each([
    ['another word', 'listener: { port: "${WORD}" }'],
    ['a variable beside something', 'listener: { port: "8${NUMBER}" }'],
    ['a number in quotes', 'listener: { port: "8080" }'],
    ['a number out of range', 'listener: { port: "${PORT}${PORT}" }'],
  ])('K49 is refused without being shown where it is %s', (_, yaml) => {
    expect(() => withEnv(yaml)).toThrow(/listener\.port: should be a whole number from 0 to 65535$/);
  });
});

function parse(text: string, env = {}): Settings {
  const readFile = (): string => {
    throw new MirrorError('bug', 'No file is read here.');
  };
  return parseSettings({ defaults, text, name: 'mirror.yaml', env, readFile });
}
