/** What depends on where a mirror is kept, for who only reads it: in a file, or in a schema of PostgreSQL. */
import type { ProcessesThere } from '../../domain/processes.ts';
import type { ExportedMirror } from '../export/write-export.ts';
import type { Move } from '../files/moved.ts';
import type { Database } from '../sql/database.ts';
import type { MirrorSizes } from './place.ts';

export interface ReadPlace {
  readonly database: Database;
  /** What exports read. */
  readonly exported: ExportedMirror;
  /** Where the mirror was moved to; undefined while it is here. */
  moved(): Promise<Move | undefined>;
  sizes(): Promise<Pick<MirrorSizes, 'databaseBytes' | 'walBytes'>>;
  /** The result of the engine's check of what is stored; empty where it is sound, or the engine has none. */
  faults(): Promise<string[]>;
  processes(): Promise<ProcessesThere>;
}
