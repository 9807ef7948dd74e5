/**
 * Every command with its options. What a command needs is loaded only when it runs.
 */
import { Argument, Option, type Command } from 'commander';
import { exportFormats } from '../settings/export-format.ts';
import { addCommonOptions, feedCursor, idNumber, type ProgramCommand, rolesIn, shells, wholeFrom } from './options.ts';
import type { ProcessContext } from './process/process-context.ts';
import { sandboxCommand } from './sandbox.ts';
import { declareCallbacks, declareGateways, declareVendors } from './service-commands.ts';

/** In the order in which help lists them. */
export function declareCommands(program: ProgramCommand, context: ProcessContext): void {
  declareServe(program);
  declareSync(program);
  declareReconcile(program);
  declareVerify(program);
  declareStatus(program);
  declareVendors(program);
  declareGateways(program);
  declareCallbacks(program);
  declareDeliveries(program);
  declareChanges(program);
  declareExport(program);
  declareNotify(program);
  declareCopy(program);
  declareForget(program);
  declareSecrets(program);
  declareLogin(program);
  declareAccounts(program);
  declareCompletion(program);
  for (const command of leaves(program)) addCommonOptions(command);
  for (const group of [program, ...program.commands])
    if (group.commands.length > 0) group.helpCommand('help [command]', 'print the help of a command');
  program.addCommand(sandboxCommand(context).copyInheritedSettings(program));
}

/** The commands that do something themselves. */
function leaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}

function declareServe(program: ProgramCommand): void {
  program
    .command('serve')
    .summary('run the daemon: webhooks, schedules, dashboard')
    .about(
      'Keeps the mirror fresh until it is stopped: receives webhooks, reads the vendors that they name, and sweeps on its schedules.',
      'SIGTERM or Ctrl-C stops it cleanly, a second one at once. Only one daemon can use a file; a mirror in PostgreSQL may have several, one of which works.',
    )
    .option(
      '--role <roles>',
      'with a mirror in PostgreSQL: listen, work, or both, separated by a comma, in place of `roles` in the settings',
      rolesIn,
    )
    .option('--existing', 'refuse to begin a new mirror or new secrets, for every start but the first')
    .option('--unregister', 'delete the callbacks that this installation registered, then exit')
    .option(
      '--port <n>',
      'with the built-in sandbox: the port of the listener; the dashboard has the next one',
      wholeFrom(1, 65_534),
    )
    .examples(['vendor-mirror serve -c mirror.yaml'])
    .runs(async () => (await import('./serve.ts')).serve);
}

/** So that cron mails nothing where there is nothing to say. */
const quietly =
  'Where standard output is no terminal, it prints nothing if all is well, unless --verbose or --json is given.';
const verbose = [
  '--verbose',
  'print what was done, a line for each account, and how far it is, also where no terminal is',
] as const;

function declareSync(program: ProgramCommand): void {
  program
    .command('sync')
    .summary('mirror all vendors and gateways once')
    .about(
      'Mirrors all vendors and gateways of the service once.',
      'Exits with 0 if every account was mirrored completely, otherwise with 1. If interrupted, it keeps what it has read.',
      quietly,
    )
    .option(...verbose)
    .examples(['vendor-mirror sync -c mirror.yaml'], ['vendor-mirror sync --account 6BApk --json'])
    .runs(async () => (await import('./sync.ts')).sync);
}

function declareReconcile(program: ProgramCommand): void {
  program
    .command('reconcile')
    .summary('mirror all vendors and record every difference')
    .about(
      'Mirrors all vendors and gateways of the service once, and records every difference that no webhook had announced in the table findings.',
      'Vendors that are no longer listed are read one by one. If many are missing at once, none is marked gone: check the service, then allow it with --approve-absences.',
      'If the service counts many vendors that it does not show, nothing is complete: check the role of the token, or accept it with --accept-unreadable. That is kept with the account, until there are many more; 0 takes it back.',
      'If the service shows none of the known vendors, or others under their numbers, nothing of it is applied: check token and account. If they are right, and the vendors were replaced or all rewritten, accept it with --accept-account.',
      quietly,
    )
    .option(...verbose)
    .option('--approve-absences <n>', 'mark up to this many missing vendors gone', wholeFrom(0))
    .option(
      '--accept-account',
      'accept that the vendors which the service shows are those of this account, changed or replaced',
    )
    .option('--accept-unreadable <n>', 'accept that so many vendors are counted and not shown', wholeFrom(0))
    .examples(['vendor-mirror reconcile'], ['vendor-mirror reconcile --account 6BApk --approve-absences 40'])
    .runs(async () => (await import('./sync.ts')).reconcile);
}

function declareVerify(program: ProgramCommand): void {
  program
    .command('verify')
    .summary('compare the mirror with the service, field by field')
    .about(
      'Reads the whole list of the service, and 200 vendors by id, and compares them with the mirror, field by field. Changes no vendor.',
      'Exits with 0 if they are equal, with 1 if they differ, the list could not be read completely, or fields that lists leave out were not compared for all vendors.',
      quietly,
    )
    .option('--full', 'read all vendors by id')
    .option(...verbose)
    .examples(['vendor-mirror verify && echo equal'], ['vendor-mirror verify --full'], ['vendor-mirror verify --json'])
    .runs(async () => (await import('./verify.ts')).verify);
}

function declareStatus(program: ProgramCommand): void {
  program
    .command('status')
    .summary('show what the mirror holds, how fresh it is, and what to do')
    .about(
      'Shows for each account what the mirror holds, how fresh it is, its queue and latest runs, and what to do if something is wrong.',
      'Reads only the mirror, never the service.',
      'Of more than ten accounts it shows sums; --all also lists them, those in most need of a person first.',
    )
    .option('--all', 'list all accounts, a line each')
    .runs(async () => (await import('./status.ts')).status);
  program
    .command('doctor')
    .summary('check settings, access, files and network, and say what to do')
    .about(
      'Checks settings, files, disk, clock, token, access, paging, reads by number, callbacks and the public address, and says what to do about each problem.',
      'Writes nothing to the service. Exits with the highest exit code of the problems found; a warning is not a problem.',
      'A mirror belongs to the service that it was filled from. If that service has moved to another address, --accept-service compares a sample of its vendors with the mirror and, after a confirmation, accepts the new address.',
    )
    .option('--accept-service', 'accept the service of the settings for this mirror, after a comparison')
    .option('--yes', 'do not ask for confirmation; a service with other vendors is refused')
    .runs(async () => (await import('./doctor.ts')).doctor);
}

function declareChanges(program: ProgramCommand): void {
  program
    .command('changes')
    .summary('print the change feed')
    .about(
      'Prints every change of every vendor, oldest first, one JSON object a line, with the old and new value of each field.',
      'Each change has a cursor, with which --since continues. A cursor from before the mirror was rebuilt or restored, or before pruned changes, is refused; the error says where to continue.',
    )
    .option('--since <cursor>', 'only changes after this cursor', feedCursor)
    .option('--limit <n>', 'at most this many', wholeFrom(1))
    .option('--follow', 'wait for more changes until interrupted')
    .examples(['vendor-mirror changes --since 9f86d081884c7d65:1042 --follow'])
    .runs(async () => (await import('./changes.ts')).changes);
}

function declareExport(program: ProgramCommand): void {
  program
    .command('export')
    .argument('<file>', 'the file to write: .db, .csv, .json, .ndjson or .parquet; - is standard output')
    .summary('write a consistent copy of the mirror, or rows of it as .csv, .json, .ndjson or .parquet')
    .about(
      'Writes a consistent, self-contained copy of the mirror (.db), or rows of it: those of the view vendor_overview, unless --view or --query is given. The file appears only when it is complete.',
      'A .csv is in UTF-8 with a byte order mark. Text that a spreadsheet would take for a formula, also after spaces, line breaks and invisible characters, gets a leading apostrophe; numbers, amounts and telephone numbers do not.',
      'A spreadsheet changes what looks like a number or a date: 0042 becomes 42, and digits after the fifteenth are lost. Import such columns as text, or use a .parquet, which keeps types.',
      'A .parquet keeps types: 64-bit integers, numbers, booleans, times without a zone, text. Text of the service in a time column that is not a time is left empty, and counted. A column that a query computes gets its type from its first values.',
      'A query is a single SELECT. Its rows are written while they are read, so their number does not matter. Run long queries on a copy.',
    )
    .option('--view <name>', 'the rows of this view or table')
    .addOption(new Option('--query <sql>', 'the rows of this query').conflicts('view'))
    .addOption(
      new Option('--format <format>', "the file's format; default: by its ending, csv on standard output").choices(
        exportFormats,
      ),
    )
    .examples(
      ['vendor-mirror export /srv/reports/vendors.db'],
      ['vendor-mirror export owed.csv --view payables'],
      ['vendor-mirror export changes.parquet --view vendor_changes'],
      ['vendor-mirror export - --format ndjson --query "select * from active_vendors" | head'],
    )
    .runs(async () => (await import('./export.ts')).exportTo);
}

function declareAccounts(program: ProgramCommand): void {
  const accounts = program
    .command('accounts')
    .summary('list, add, remove, pause, resume accounts')
    .about(
      'The mirrored accounts: those of the settings, and those added by command, which are kept in the mirror.',
      'A running daemon takes each change within a second.',
    );
  accounts
    .command('list')
    .summary('list the mirrored accounts')
    .description('Lists the accounts, where each is configured, and what the mirror holds of it.')
    .runs(async () => (await import('./accounts.ts')).accountsList);
  accounts
    .command('add')
    .argument('<id>', 'the account id, as in addresses of the service')
    .summary('mirror an account beside those of the settings')
    .about(
      'Adds an account to those of the settings. An account that the settings name is refused.',
      'Commands know it at once. A running daemon registers its callback and sweeps it.',
    )
    .option('--connection <name>', 'which of `connections` in the settings gives access to it; default: service.auth')
    .examples(['vendor-mirror accounts add 7CBql'], ['vendor-mirror accounts add 7CBql --connection berlin'])
    .runs(async () => (await import('./accounts.ts')).accountsAdd);
  accounts
    .command('remove')
    .argument('<id>', 'an account that was added by command')
    .summary('stop mirroring an account that was added')
    .about(
      'Removes an account that was added. An account that the settings name is refused.',
      'Its vendors stay in the mirror. A running daemon deletes its callback at the service; if none runs, the command says how to delete it.',
    )
    .examples(['vendor-mirror accounts remove 7CBql'])
    .runs(async () => (await import('./accounts.ts')).accountsRemove);
  accounts
    .command('pause')
    .argument('<id>', 'an account of the settings, or one that was added')
    .summary('stop reading an account for a while')
    .about(
      'Pauses an account, also one of the settings. Nothing is requested from the service about it. What the service delivers is stored and acknowledged, and read when the account is resumed.',
      '`status`, the dashboard, metrics and the view `freshness` show it as paused, not as stale. `sync`, `reconcile` and `verify` leave it out.',
    )
    .examples(['vendor-mirror accounts pause 7CBql'])
    .runs(async () => (await import('./accounts.ts')).accountsPause);
  accounts
    .command('resume')
    .argument('<id>', 'an account that is paused')
    .summary('end the pause of an account')
    .description('Ends a pause. A running daemon reads at once what was delivered meanwhile, and sweeps the account.')
    .examples(['vendor-mirror accounts resume 7CBql'])
    .runs(async () => (await import('./accounts.ts')).accountsResume);
}

/** The journal may be long. */
const usualLimit = 100;

function declareDeliveries(program: ProgramCommand): void {
  const deliveries = program
    .command('deliveries')
    .summary('list received webhooks, retry vendors that were given up')
    .description('The journal of received webhooks, and the result of each.');
  deliveries
    .command('list')
    .summary('list received webhooks')
    .description('Lists deliveries, newest first.')
    .addOption(
      new Option('--outcome <outcome>', 'only deliveries with this outcome').choices([
        'pending',
        'applied',
        'unchanged',
        'not_found',
        'ignored',
        'parked',
      ]),
    )
    .option('--vendor <vendorid>', 'only deliveries about this vendor', idNumber)
    .option('--since <moment>', 'only deliveries since then: 30m, 12h, 7d, or a time in UTC')
    .option('--limit <n>', 'at most this many', wholeFrom(1), usualLimit)
    .examples(
      ['vendor-mirror deliveries list --outcome parked'],
      ['vendor-mirror deliveries list --since "2026-11-20 09:00:00" --json'],
    )
    .runs(async () => (await import('./deliveries.ts')).deliveriesList);
  deliveries
    .command('retry')
    .summary('try vendors again that were given up')
    .about(
      'Tries vendors again whose reading was given up (parked).',
      'A running daemon reads them soon; otherwise the next sweep does.',
    )
    .option('--vendor <vendorid>', 'only this vendor', idNumber)
    .runs(async () => (await import('./deliveries.ts')).deliveriesRetry);
}

function declareNotify(program: ProgramCommand): void {
  const notify = program
    .command('notify')
    .summary('list, retry, forget targets of outgoing webhooks')
    .description('The targets of outgoing webhooks, and what was not delivered to them.');
  notify
    .command('list')
    .summary('list the targets and what was given up')
    .description('Lists the targets, how far behind each is, and the vendors whose changes were given up.')
    .runs(async () => (await import('./notify.ts')).notifyList);
  notify
    .command('retry')
    .summary('send again what was given up')
    .argument('[target]', 'only this target')
    .about(
      'Sends again what was given up (parked), and enables targets again whose receiver answered 410.',
      'A running daemon sends it soon.',
    )
    .examples(['vendor-mirror notify retry'], ['vendor-mirror notify retry hooks.example.com'])
    .runs(async () => (await import('./notify.ts')).notifyRetry);
  notify
    .command('forget')
    .summary('delete a target and what waits for it')
    .argument('<target>', 'a target that the settings no longer name')
    .description(
      'Deletes a target and what waits for it. If it is named again, it starts at the end of the change feed.',
    )
    .runs(async () => (await import('./notify.ts')).notifyForget);
}

const connection = 'one of `connections` in the settings; default: service.auth';

function declareLogin(program: ProgramCommand): void {
  program
    .command('login')
    .argument('[connection]', connection)
    .summary('get access by OAuth in a browser')
    .about(
      'Prints an address where you allow vendor-mirror to read the accounts, and stores the tokens in the secrets file. A running daemon uses them the next time it needs a token.',
      'If oauth.redirectUri is an http address of this machine, the command waits there for the browser. Otherwise, paste the address to which the browser was sent.',
      'Without a settings file, --base-url, --client-id and --account name the service, and login writes one: the file of -c, or else mirror.yaml in this folder. It never changes a file that exists.',
    )
    .option('--base-url <url>', 'for a new settings file: the address of the service')
    .option('--client-id <id>', 'for a new settings file: the id of your application at the service')
    .option('--client-secret-file <path>', 'the file with its secret; without it, you are asked')
    .option('--authorize-url <url>', 'where access is allowed (default: BASE/auth/oauth/authorize)')
    .option('--token-url <url>', 'where tokens come from (default: BASE/auth/oauth/token)')
    .option('--redirect-uri <url>', 'as registered at the service (default: http://127.0.0.1:8789/callback)')
    .option('--public-url <url>', 'where the service reaches port 8787 of this machine, for webhooks')
    .examples(
      ['vendor-mirror login -c mirror.yaml'],
      ['vendor-mirror login main', 'for one of several connections'],
      ['vendor-mirror login --base-url https://api.example.com --client-id 8b1a --account 6BApk'],
    )
    .runs(async () => (await import('./login.ts')).login);
  program
    .command('logout')
    .argument('[connection]', connection)
    .summary('delete the tokens of login')
    .about(
      'Deletes the tokens that `login` stored. The mirror is not changed.',
      'A running daemon keeps using its token until that expires, or until it gets SIGHUP.',
    )
    .runs(async () => (await import('./login.ts')).logout);
}

const passphraseFile = [
  '--passphrase-file <file>',
  'read the passphrase from this file; default: ask for it on the terminal',
] as const;

function declareSecrets(program: ProgramCommand): void {
  const secrets = program
    .command('secrets')
    .summary('export, import the secrets')
    .description('Backs up the secrets in a file encrypted with a passphrase, and restores them.');
  secrets
    .command('export')
    .argument('<file>', 'the file to write')
    .summary('write a backup of the secrets, encrypted with a passphrase')
    .about(
      'Writes the addresses and keys of callbacks, the tokens of `login` and the places of outgoing webhooks to a file encrypted with a passphrase (scrypt, AES-256-GCM). Works beside a running daemon.',
      'The settings, and the files of tokens that they name, are not in it.',
    )
    .option(...passphraseFile)
    .examples(['vendor-mirror secrets export secrets.sealed'], ['vendor-mirror export vendors-copy.db', 'the mirror'])
    .runs(async () => (await import('./secrets.ts')).secretsExport);
  secrets
    .command('import')
    .argument('<file>', 'a file that `secrets export` wrote')
    .summary('restore the secrets from a backup')
    .about(
      'Restores the secrets of a backup to the file that `secrets` in the settings names. The daemon must be stopped.',
      'If a copy of the mirror is in place too, the next start continues with the same callbacks. The installation that wrote the backup must not run any more.',
    )
    .option(...passphraseFile)
    .option('--yes', 'replace existing secrets without asking')
    .examples(['vendor-mirror secrets import secrets.sealed'])
    .runs(async () => (await import('./secrets.ts')).secretsImport);
}

function declareCopy(program: ProgramCommand): void {
  program
    .command('copy')
    .summary('copy the mirror and its secrets into a PostgreSQL, where it goes on')
    .about(
      'Copies the mirror of the settings, a file, and its secrets into a PostgreSQL, in one transaction, and compares every row. The daemon must be stopped. It prints the settings with which the mirror goes on there.',
      'From then on the file can be read, but not written: commands and the daemon refuse it and name where it went. --undo lets the file go on instead.',
      'Callbacks, keys of webhooks, tokens of `login` and the places of outgoing webhooks go along. Cursors of the change feed that other programs keep are refused afterwards, with where to begin.',
      'Interrupted at any moment, it leaves nothing on the server, and can be run again.',
    )
    .option('--to <address>', 'the PostgreSQL, such as postgres://user@db.example.com/database, without a password')
    .option(
      '--schema <name>',
      'the schema of the mirror; its secrets are in the one with _secrets at its end',
      'vendor_mirror',
    )
    .option('--password-file <file>', 'the file with the password of that user')
    .option('--secrets-key-file <file>', 'the file with the key that secrets are sealed with there')
    .addOption(
      new Option('--undo', 'let the file go on, although it was copied').conflicts([
        'to',
        'passwordFile',
        'secretsKeyFile',
      ]),
    )
    .option('--yes', 'with --undo: do not ask for confirmation')
    .examples(
      ['openssl rand -hex 32 > secrets-key && chmod 600 secrets-key'],
      [
        'vendor-mirror copy -c mirror.yaml --to postgres://mirror@db.example.com/mirror --password-file password --secrets-key-file secrets-key',
      ],
    )
    .runs(async () => (await import('./copy.ts')).copy);
}

function declareForget(program: ProgramCommand): void {
  program
    .command('forget')
    .summary('remove fields, a vendor or an account from the mirror and its history')
    .about(
      'Removes fields (--field), which vendors.exclude must name, one vendor (--vendor), or an account that is no longer mirrored (--account alone) from the mirror and its history, and overwrites the pages of the file, or rewrites the tables in PostgreSQL. The daemon must be stopped.',
      'A forgotten vendor stays away until --undo, even if the service still lists it; a forgotten account is mirrored anew if the settings name it again. The service itself is not changed.',
      'Earlier copies keep everything: exports, files of `publish`, its rows in PostgreSQL until the daemon has started, backups, and what was sent to receivers of webhooks.',
    )
    .option('--field <name...>', 'fields that vendors.exclude names; in all accounts, or in --account')
    .addOption(
      new Option('--vendor <id>', "a vendor's number, in --account").argParser(wholeFrom(1)).conflicts('field'),
    )
    .addOption(new Option('--undo', 'let the vendor be mirrored again').conflicts('field'))
    .option('--yes', 'do not ask for confirmation')
    .examples(
      ['vendor-mirror forget --field phone note'],
      ['vendor-mirror forget --vendor 1042 --account 6BApk'],
      ['vendor-mirror forget --account 6BApk'],
    )
    .runs(async () => (await import('./forget.ts')).forget);
}

function declareCompletion(program: ProgramCommand): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .summary('print a script that lets a shell complete these commands')
    .about(
      'Prints a script that lets a shell complete commands, options and their values.',
      'Load it when the shell starts; then it is up to date after each update of vendor-mirror.',
    )
    .examples(
      ['source <(vendor-mirror completion bash)', 'in ~/.bashrc'],
      ['source <(vendor-mirror completion zsh)', 'in ~/.zshrc, after compinit'],
      ['vendor-mirror completion fish | source', 'in ~/.config/fish/config.fish'],
    )
    .runs(async () => (await import('./completion.ts')).completionOf(program));
  program
    .command('version')
    .summary('print the version')
    .description('Prints the version, as --version does; with --json also the version of Node.js and the platform.')
    .runs(async () => (await import('./version.ts')).version);
}
