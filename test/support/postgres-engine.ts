/** Starts a server for the project that keeps its mirrors in PostgreSQL, and stops it after the last test. */
import type { TestProject } from 'vitest/node';
import { isMissing } from './needed.ts';
import { missingPostgres, startServer } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of a server, as a superuser; undefined where mirrors are kept in files. */
    postgres: string | undefined;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (isMissing(missingPostgres)) return () => Promise.resolve();
  const server = await startServer();
  project.provide('postgres', server.address);
  return server.stop;
}
