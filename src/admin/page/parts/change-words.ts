/** What became of a vendor, in a word or two. */
import type { Change } from '../../../store/reports/change-feed.ts';

export const changeWords: Readonly<Record<Change['kind'], string>> = {
  created: 'First seen',
  updated: 'Changed',
  deleted: 'Deleted',
  archived: 'Archived',
  restored: 'Restored',
  missing: 'Missing from the list',
  gone: 'Gone from the service',
  returned: 'Back again',
};
