/** What runs in the browser: the page is whole without it, and alive with it. */
import { offerActions } from './actions.ts';
import { countAges } from './age-counter.ts';
import { drawCharts } from './charts.ts';
import { keepLive } from './live.ts';
import { searchAsTyped } from './search-box.ts';

const ages = countAges();
const hideAccounts = filterAccounts();
drawCharts();
searchAsTyped();
offerActions();
keepLive(
  (now) => {
    ages.setNow(now);
    drawCharts();
    hideAccounts();
  },
  () => ages.confirm(),
);

/** @returns what hides them once the page was exchanged */
function filterAccounts(): () => void {
  const apply = (): void => {
    const wanted = document.querySelector<HTMLInputElement>('#account-filter')?.value.trim().toLowerCase() ?? '';
    for (const row of document.querySelectorAll<HTMLElement>('#account-list tbody tr'))
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
  };
  document.querySelector('#account-filter')?.addEventListener('input', apply);
  return apply;
}
