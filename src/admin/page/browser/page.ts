/** What runs in the browser: the page is whole without it, and alive with it. */
import { filterAccounts } from './account-filter.ts';
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
