/** Jobs of the export process, and its answers. */

/** The type of a column in a typed format. */
export type ColumnKind = 'integer' | 'real' | 'boolean' | 'time' | 'text';

export interface TypedColumn {
  readonly name: string;
  /** Undefined where it is not declared; then the first values decide. */
  readonly kind: ColumnKind | undefined;
}

export type ExportJob =
  /** Fills the file at `to` with a copy of the mirror at `path`. */
  | { readonly do: 'copy'; readonly path: string; readonly to: string }
  /** Opens the copy at `path` like any reader, and checks it. */
  | { readonly do: 'read back'; readonly path: string }
  /** Writes the rows of a query as Parquet to standard output. */
  | {
      readonly do: 'parquet';
      readonly path: string;
      readonly query: string;
      readonly columns: readonly TypedColumn[];
    };

/** The result of a successful export. */
export interface Exported {
  /** Number of texts in time columns that are not times; a typed format leaves them empty. */
  readonly noTimes: number;
}

export interface JobFault {
  /** What the code belongs to. */
  readonly of: 'sqlite' | 'mirror' | 'other';
  readonly code: string;
  readonly message: string;
}

export type JobAnswer = { readonly done: Exported } | { readonly fault: JobFault };
