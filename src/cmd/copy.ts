/** `copy`: the mirror of a file goes on in a PostgreSQL; nothing is asked of the service. */
import { join, resolve } from 'node:path';
import { exitStatus, MirrorError, type ExitStatus } from '../domain/errors.ts';
import { counted } from '../domain/size.ts';
import { readSecretFile, reasonOf } from '../settings/file.ts';
import { postgresStoreOf, publishedFiles, type PostgresStore, type Settings } from '../settings/parse.ts';
import { formatByEnding } from '../settings/export-format.ts';
import { copyToPostgres, takeBackCopy } from '../store/copy/copy-mirror.ts';
import { settingsOfFile } from './load-settings.ts';
import type { Call, CommandHandler } from './process/command.ts';
import { answered, print, printJson, printNotice, printText } from './terminal/print.ts';
import { migrationProgress, percentProgress } from './terminal/progress.ts';
import { isConfirmed } from './terminal/prompt.ts';

interface CopyFlags {
  readonly to?: string;
  readonly schema: string;
  readonly passwordFile?: string;
  readonly secretsKeyFile?: string;
  readonly undo?: boolean;
  readonly yes?: boolean;
}

export const copy: CommandHandler<CopyFlags> = async (call) => {
  const settings = settingsOfFile(call);
  if (settings.postgres)
    throw new MirrorError('usage', `The mirror of these settings is in PostgreSQL already: ${settings.database}.`, {
      remedy: 'Name the settings of the mirror that is a file with -c. From one server to another, use `pg_dump`.',
    });
  return call.options.undo ? takeBack(call, settings) : await copyThere(call, settings);
};

async function copyThere(call: Call<CopyFlags>, settings: Settings): Promise<ExitStatus> {
  const { context, options } = call;
  if (settings.sandbox !== null)
    throw new MirrorError(
      'usage',
      'The mirror of the built-in sandbox is copied nowhere: its world is a file beside it.',
      {
        remedy: 'Name the settings of a service with -c.',
      },
    );
  const to = storeOf(options);
  const itsSettings = settingsFor(options.to ?? '', to);
  const { interrupted } = context;
  const onProgress = percentProgress(context, 'Copying the mirror');
  const report = await copyToPostgres({ ...filesOf(call, settings), to, interrupted, onProgress });
  const { place, wasThere, rows, left } = report;
  if (options.json) printJson(context, { ok: true, copied: !wasThere, to: place, rows, left, settings: itsSettings });
  else {
    printText(
      context,
      wasThere
        ? `${place} has the mirror already: an earlier attempt has copied it.`
        : `${place} holds the mirror now: ${counted(rows['_accounts'] ?? 0, 'account')}, ${counted(rows['vendors'] ?? 0, 'vendor')}, ${counted(rows['_vendor_versions'] ?? 0, 'version')}, ${counted(rows['deliveries'] ?? 0, 'delivery', 'deliveries')}. Every row was compared.`,
    );
    printText(
      context,
      'In the settings, put these lines in the place of `database` and `secrets`, and start the daemon:',
    );
    for (const [key, value] of Object.entries(itsSettings)) print(context, `  ${key}: ${value}`);
  }
  for (const name of left) printNotice(context, `${name} was not copied: it is not of this program.`);
  for (const { path, format } of publishedFiles(settings.publish))
    if ((format ?? formatByEnding(path)) === 'db')
      printNotice(context, `Take ${path} out of \`publish\`: a mirror in PostgreSQL is no file that can be copied.`);
  printNotice(
    context,
    `${settings.database} is kept as it was, and no longer written. Keep the file of the key apart from backups of the database.`,
  );
  return exitStatus.done;
}

async function takeBack(call: Call<CopyFlags>, settings: Settings): Promise<ExitStatus> {
  const { context, options } = call;
  const question = `Let ${settings.database} go on from where it was? Stop what works on the copy first: two that go on from one state would send the same twice.`;
  if (!(await isConfirmed(context, question, options.yes))) {
    printNotice(context, 'Nothing was done.');
    return exitStatus.incomplete;
  }
  const place = await takeBackCopy(filesOf(call, settings));
  const text =
    place === undefined
      ? `${settings.database} was not moved.`
      : `${settings.database} goes on. Drop the schemas of ${place}, so that nothing goes on there; if tokens of \`login\` were renewed there, log in again.`;
  return answered(call, { database: settings.database, was_moved_to: place ?? null }, text);
}

function filesOf({ context }: Call, { database: path, secrets }: Settings) {
  const { packageRoot, clock, random } = context;
  const onMigration = migrationProgress(context);
  return { path, secrets, migrations: join(packageRoot, 'migrations'), clock, random, onMigration };
}

/** @throws MirrorError `usage` for options that cannot be used. */
function storeOf({ to, schema, passwordFile, secretsKeyFile }: CopyFlags): PostgresStore {
  if (to === undefined)
    throw new MirrorError('usage', 'Name the PostgreSQL: --to postgres://user@db.example.com/database.');
  if (secretsKeyFile === undefined)
    throw new MirrorError('usage', 'Secrets are sealed there: name the file with the key, --secrets-key-file FILE.', {
      remedy: 'Make one, and keep it apart from backups of the database: openssl rand -hex 32 > FILE && chmod 600 FILE',
    });
  const files = {
    secretsKeyFile: resolve(secretsKeyFile),
    passwordFile: passwordFile === undefined ? undefined : resolve(passwordFile),
  };
  const store = postgresStoreOf({ to, schema, ...files });
  if (typeof store === 'string') throw new MirrorError('usage', store);
  if (files.passwordFile === undefined) return store;
  try {
    readSecretFile(files.passwordFile);
  } catch (error) {
    throw new MirrorError(
      'usage',
      `The file ${files.passwordFile} of --password-file cannot be read: ${reasonOf(error)}.`,
    );
  }
  return store;
}

/** The settings of the mirror there. */
function settingsFor(address: string, { schema, passwordFile, secretsKeyFile }: PostgresStore): Record<string, string> {
  return {
    database: address,
    databaseSchema: schema,
    ...(passwordFile !== undefined && { databasePasswordFile: passwordFile }),
    ...(secretsKeyFile !== undefined && { secretsKeyFile }),
  };
}
