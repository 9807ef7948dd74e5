/** The forms in which the mirror is handed on: a whole copy, or rows. */
export const exportFormats = ['db', 'csv', 'json', 'ndjson'] as const;
export type ExportFormat = (typeof exportFormats)[number];
