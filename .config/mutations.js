/**
 * `npm run test:mutations`: changes the files that decide, one condition, number or call at a time, and runs the tests of each file against
 * every change (StrykerJS). A change that no test notices survives, and so may a fault. Exits with 1 where one survived that is not explained
 * (test/mutations/subjects.ts), or where an explanation is of a change that is noticed. Text after `--` restricts it to files whose path contains it.
 *
 * One file after the other, one process each: hours of a machine are for it alone. It is for the night, not for the gate.
 */
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { subjects } from '../test/mutations/subjects.ts';

/** How mutants ended that a test noticed, or that cannot run: a loop without end is stopped and counts as noticed. */
const noticed = ['Killed', 'Timeout', 'CompileError', 'RuntimeError'];

/** What was changed into what, as an explanation names it: in one line. */
function changeOf(file, { location, replacement }) {
  const { start, end } = location;
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .slice(start.line - 1, end.line);
  lines[lines.length - 1] = lines.at(-1)?.slice(0, end.column - 1) ?? '';
  lines[0] = lines[0]?.slice(start.column - 1) ?? '';
  const inOneLine = (text) => text.replace(/\s+/g, ' ');
  return `${inOneLine(lines.join('\n'))} → ${inOneLine(replacement)}`;
}

/** Mutates one file. @returns whether each survivor is explained, and each explanation is of a survivor. */
async function mutate({ file, tests, survivors = {} }) {
  process.env['MUTATION_TESTS'] = tests.join(' ');
  const mutants = await new Stryker({
    configFile: 'test/mutations/stryker.json',
    mutate: [file],
    // Outside of the source, so that nothing else finds the copies.
    tempDirName: join(tmpdir(), 'vendor-mirror-mutations'),
  }).runMutationTest();
  const left = mutants.filter(({ status }) => !noticed.includes(status) && status !== 'Ignored');
  const changes = left.map((mutant) => [`${file}:${mutant.location.start.line}`, changeOf(file, mutant)]);
  const unexplained = changes.filter(([, change]) => survivors[change] === undefined);
  const unneeded = Object.keys(survivors).filter((change) => !changes.some(([, left]) => left === change));
  const score = ((mutants.length - left.length) / mutants.length) * 100;
  const explained = changes.length - unexplained.length;
  console.log(
    `${file}: ${mutants.length} changes, ${left.length} survived, ${explained} of them explained; ${score.toFixed(1)} %`,
  );
  for (const [place, change] of unexplained) console.log(`  ${place}: ${change}`);
  for (const change of unneeded) console.log(`  explained, and noticed or no longer there: ${change}`);
  return unexplained.length === 0 && unneeded.length === 0;
}

const wanted = process.argv.slice(2);
let isClean = true;
for (const subject of subjects)
  if (wanted.length === 0 || wanted.some((text) => subject.file.includes(text)))
    isClean = (await mutate(subject)) && isClean;
process.exitCode = isClean ? 0 : 1;
