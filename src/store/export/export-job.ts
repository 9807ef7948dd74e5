/** What is done in a process of its own for a copy or an export, and what that process answers. */

/** What the values of a column are in a file with types. */
export type ColumnKind = 'integer' | 'real' | 'boolean' | 'time' | 'text';

export interface TypedColumn {
  readonly name: string;
  /** undefined where nothing declares it: its first values say. */
  readonly kind: ColumnKind | undefined;
}

export type ExportJob =
  /** Fills the file at `to` with a copy of the mirror at `path`. */
  | { readonly do: 'copy'; readonly path: string; readonly to: string }
  /** Opens the copy at `path` as any reader would, and looks through it. */
  | { readonly do: 'read back'; readonly path: string }
  /** Writes the rows of a query as Parquet to standard output. */
  | {
      readonly do: 'parquet';
      readonly path: string;
      readonly query: string;
      readonly columns: readonly TypedColumn[];
    };

/** What may be said of an export that succeeded. */
export interface Exported {
  /** Texts in columns of times that are no times, and left empty in a file with types. */
  readonly noTimes: number;
}

export interface JobFault {
  /** Whose code it is. */
  readonly of: 'sqlite' | 'mirror' | 'other';
  readonly code: string;
  readonly message: string;
}

export type JobAnswer = { readonly done: Exported } | { readonly fault: JobFault };
