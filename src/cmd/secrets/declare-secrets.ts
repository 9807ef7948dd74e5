/** The commands that back up and restore the secrets. */
import type { Command } from 'commander';
import type { LazyAction } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';

const passphraseFile = [
  '--passphrase-file <file>',
  'read the passphrase from this file; default: ask for it on the terminal',
] as const;

export function declareSecrets(program: Command, lazy: LazyAction): void {
  const secrets = program
    .command('secrets')
    .summary('export, import the secrets')
    .description('Backs up the secrets in a file encrypted with a passphrase, and restores them.');
  secrets
    .command('export')
    .argument('<file>', 'the file to write')
    .summary('write a backup of the secrets, encrypted with a passphrase')
    .description(
      paragraphs(
        'Writes the addresses and keys of callbacks, the tokens of `login` and the places of outgoing webhooks to a file encrypted with a passphrase (scrypt, AES-256-GCM). Works beside a running daemon.',
        'The settings, and the files of tokens that they name, are not in it.',
      ),
    )
    .option(...passphraseFile)
    .addHelpText(
      'after',
      examples(['vendor-mirror secrets export secrets.sealed'], ['vendor-mirror export vendors-copy.db', 'the mirror']),
    )
    .action(lazy(async () => (await import('./secrets-export.ts')).secretsExport));
  secrets
    .command('import')
    .argument('<file>', 'a file that `secrets export` wrote')
    .summary('restore the secrets from a backup')
    .description(
      paragraphs(
        'Restores the secrets of a backup to the file that `secrets` in the settings names. The daemon must be stopped.',
        'If a copy of the mirror is in place too, the next start continues with the same callbacks. The installation that wrote the backup must not run any more.',
      ),
    )
    .option(...passphraseFile)
    .option('--yes', 'replace existing secrets without asking')
    .addHelpText('after', examples(['vendor-mirror secrets import secrets.sealed']))
    .action(lazy(async () => (await import('./secrets-import.ts')).secretsImport));
}
