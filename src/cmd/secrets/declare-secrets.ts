/** The commands that carry the secrets of an installation to another place. */
import type { Command } from 'commander';
import type { LazyAction } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';

const passphraseFile = [
  '--passphrase-file <file>',
  'read the passphrase from this file; asked for at the terminal unless told',
] as const;

export function declareSecrets(program: Command, lazy: LazyAction): void {
  const secrets = program
    .command('secrets')
    .summary('the secrets, as a backup under a passphrase: export, import')
    .description('Writes the file of secrets as a backup that only a passphrase opens, and puts it back.');
  secrets
    .command('export')
    .argument('<file>', 'where to')
    .summary('a backup of the secrets, encrypted with a passphrase')
    .description(
      paragraphs(
        'Writes the addresses and keys of callbacks, the tokens of `login` and the places of outgoing webhooks to a file that only the passphrase opens (scrypt, AES-256-GCM). Works beside a running daemon.',
        'The settings, and the files of tokens that they name, are not in it.',
      ),
    )
    .option(...passphraseFile)
    .addHelpText(
      'after',
      examples(['vendor-mirror secrets export secrets.sealed', 'vendor-mirror export vendors-copy.db']),
    )
    .action(lazy(async () => (await import('./secrets-export.ts')).secretsExport));
  secrets
    .command('import')
    .argument('<file>', 'what `secrets export` wrote')
    .summary('puts a backup of the secrets in place')
    .description(
      paragraphs(
        'Puts the secrets of a backup where `secrets` in the settings says. The daemon must be stopped.',
        'With a copy of the mirror in its place too, the next start goes on with the same callbacks. The installation that the backup is of must not run any more.',
      ),
    )
    .option(...passphraseFile)
    .option('--yes', 'replace secrets that are there, without asking')
    .addHelpText('after', examples(['vendor-mirror secrets import secrets.sealed']))
    .action(lazy(async () => (await import('./secrets-import.ts')).secretsImport));
}
