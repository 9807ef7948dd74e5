/** A test fails that leaves something open when its testbeds are closed: a server, a process, or a file of theirs. */
import { readdirSync, readlinkSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { folderPrefix } from '../mirror-file.ts';

/** What closes takes some turns of the event loop to be gone. */
const mostTurns = 1_000;

/** Servers and child processes of this process by kind, and files that it has open in the folders of testbeds. */
function openHere(): ReadonlyMap<string, number> {
  const kinds = process.getActiveResourcesInfo().filter((kind) => kind === 'TCPServerWrap' || kind === 'ProcessWrap');
  const counts = new Map<string, number>();
  for (const what of [...kinds, ...openFiles()]) counts.set(what, (counts.get(what) ?? 0) + 1);
  return counts;
}

/** None where the system has no list of them. */
function openFiles(): string[] {
  try {
    const paths = readdirSync('/proc/self/fd').map((descriptor) => readlinkOf(`/proc/self/fd/${descriptor}`));
    return paths.filter((path) => path.includes(`/${folderPrefix}`));
  } catch {
    return [];
  }
}

function readlinkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // Closed since it was listed.
    return '';
  }
}

function more(now: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>): string[] {
  return [...now].filter(([what, count]) => count > (before.get(what) ?? 0)).map(([what]) => what);
}

/** Whether a testbed of the test under way looks already: it was opened first, and is closed last. */
let looking = false;

/** From now on: whatever is opened, and still open once all that the test registered for its end has run, fails the test. */
export function refuseLeaks(): void {
  if (looking) return;
  const before = openHere();
  onTestFinished(async () => {
    looking = false;
    let left = more(openHere(), before);
    for (let turns = 0; left.length > 0 && turns < mostTurns; turns += 1) {
      await turn();
      left = more(openHere(), before);
    }
    if (left.length > 0) throw new Error(`The test left this open: ${left.join(', ')}.`);
  });
  looking = true;
}
