/** What is said of a settings file that cannot be used, when a token stands where it goes wrong. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { parseSettings } from '../src/config.ts';
import { MirrorError } from '../src/errors.ts';
import { commandLine } from './cmd/command-line.ts';
import { packageRoot } from './mirror-file.ts';

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

it.each(wrong)('K43 no word of the settings is told, only where it stands: %s', async (_, rest) => {
  const written = [vi.spyOn(console, 'warn'), vi.spyOn(process, 'emitWarning')];
  onTestFinished(() => void vi.restoreAllMocks());
  const line = commandLine();
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
    const line = commandLine();
    writeFileSync(line.settings, `${head}    accessToken: x\nschedule: { pull: "${minute} ${canary} * * *" }\n`);
    const { status, stderr } = await line.run('serve');
    expect(status).toBe(78);
    expect(stderr).toContain('schedule.pull: the minute is none of a cron schedule; the hour is none');
    expect(stderr).not.toContain(canary);
  },
);

it('K43 the place is told by line and column', () => {
  expect(() => parse(`${head}    accessToken: @x`)).toThrow(
    'mirror.yaml has one problem:\n  line 6, column 18: a value begins with a character that needs quotes',
  );
});

function parse(text: string): unknown {
  const readFile = (): string => {
    throw new MirrorError('bug', 'No file is read here.');
  };
  return parseSettings({ defaults, text, name: 'mirror.yaml', env: {}, readFile });
}
