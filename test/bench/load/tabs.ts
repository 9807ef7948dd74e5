/** Browsers that have the operator's page open, in a process of their own, whose work is not the daemon's. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Asks as the page's own script does: again and again, and for nothing that it has already. */
const program = `
  const [url, tabs] = process.argv.slice(1);
  let waiting = Number(tabs);
  const tab = async () => {
    for (let version = '';;) {
      const response = await fetch(url, { headers: { 'if-none-match': version } });
      await response.arrayBuffer();
      if (response.status === 200) {
        if (version === '' && --waiting === 0) process.stdout.write('\\n');
        version = response.headers.get('etag');
      }
      await new Promise((resolve) => setTimeout(resolve, 700));
    }
  };
  for (let count = 0; count < Number(tabs); count += 1) void tab();
  process.stdin.resume().on('end', () => process.exit());`;

/** Opens as many tabs, and waits until each has its first page. @returns what closes them. */
export async function openTabs(url: string, tabs: number): Promise<() => void> {
  const browser = spawn(process.execPath, ['-e', program, url, String(tabs)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const died = once(browser, 'exit').then(() => Promise.reject(new Error('The tabs ended before each had a page.')));
  // The tabs end with the measurement, which then waits for them no more.
  died.catch(() => undefined);
  await Promise.race([once(browser.stdout, 'data'), died]);
  return () => browser.stdin.end();
}
