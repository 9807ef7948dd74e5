/** Copies for readers, as the settings name them: what no single key shows. */
import { exportFormats, formatByEnding, type Publication } from './export-format.ts';

/** Problems in `publish`, each with its place and remedy. */
export function publicationProblems(
  publish: readonly Publication[],
): { path: readonly PropertyKey[]; remedy: string }[] {
  return publish.flatMap((publication, index) => {
    const { path, format, view, query } = publication;
    const problem = (key: keyof Publication, remedy: string) => [{ path: ['publish', index, key], remedy }];
    const form = format ?? formatByEnding(path);
    if (form === undefined) return problem('path', `should end in .${exportFormats.join(', .')}, or have a format`);
    if (form === 'db' && (view !== undefined || query !== undefined))
      return problem(
        view === undefined ? 'query' : 'view',
        'should be left out for a .db, which holds the whole mirror',
      );
    if (view !== undefined && query !== undefined) return problem('query', 'should be left out if a view is named');
    return publish.findIndex((other) => other.path === path) < index
      ? problem('path', 'should be another file: it is named twice')
      : [];
  });
}
