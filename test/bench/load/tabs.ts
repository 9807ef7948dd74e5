/** Browsers that have the operator's page open, in a process of their own, whose work is not the daemon's. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** Asks as the page's own script does: again and again, and for nothing that it has already. */
const program = `
  const [url, tabs] = process.argv.slice(1);
  let pages = 0;
  const tab = async () => {
    for (let version = '';;) {
      const response = await fetch(url, { headers: { 'if-none-match': version } });
      await response.arrayBuffer();
      if (response.status === 200) {
        version = response.headers.get('etag');
        pages += 1;
      }
      await new Promise((resolve) => setTimeout(resolve, 700));
    }
  };
  for (let count = 0; count < Number(tabs); count += 1) void tab();
  process.stdin.on('data', () => process.stdout.write(pages + '\\n')).on('end', () => process.exit());`;

export interface Tabs {
  /** Pages that were sent to all of them so far. */
  pages(): Promise<number>;
  close(): void;
}

export function openTabs(url: string, tabs: number): Tabs {
  const browser = spawn(process.execPath, ['-e', program, url, String(tabs)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: browser.stdout });
  return {
    pages: () =>
      new Promise((resolve) => {
        lines.once('line', (line) => resolve(Number(line)));
        browser.stdin.write('\n');
      }),
    close: () => browser.stdin.end(),
  };
}
