/** The commands about callbacks, straight to the service. */
import { Option, type Command } from 'commander';
import type { Does } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';
import { eventName, idNumber, webAddress } from '../options/option-values.ts';

export function declareCallbacks(program: Command, does: Does): void {
  const callbacks = program
    .command('callbacks')
    .summary('webhook callbacks: list, register, verify, resend, delete')
    .description(
      paragraphs(
        'The webhook callbacks at the service, for any of its events. The daemon looks after its own by itself.',
        'Addresses are shown without the secret at the end of those of a mirror.',
      ),
    );
  declareLooking(callbacks, does);
  callbacks
    .command('register')
    .argument('<event>', 'as in bill_vendor or invoice.create; a noun alone means all of its events', eventName)
    .argument('<uri>', 'the address that is to be told', webAddress)
    .description('Registers a callback. The service sends a verification code to the address.')
    .addHelpText('after', examples(['vendor-mirror callbacks register invoice.create https://hooks.example.com/inbox']))
    .action(does(async () => (await import('./callbacks-change.ts')).callbacksRegister));
  callbacks
    .command('verify')
    .argument('<callbackid>', "the callback's number", idNumber)
    .argument('[code]', 'the verification code; better left out, for others may see it here')
    .description(
      paragraphs(
        'Sends the verification code back that the service sent to the address; then it begins to deliver.',
        'Without a code, or with -, it is read from standard input; a person is asked for it.',
      ),
    )
    .addHelpText('after', examples(['vendor-mirror callbacks verify 2001 < code.txt']))
    .action(does(async () => (await import('./callbacks-change.ts')).callbacksVerify));
  callbacks
    .command('resend')
    .argument('<callbackid>', "the callback's number", idNumber)
    .description('Has a new code sent. Until it is verified, nothing is delivered.')
    .action(does(async () => (await import('./callbacks-change.ts')).callbacksResend));
  callbacks
    .command('delete')
    .argument('<callbackid>', "the callback's number", idNumber)
    .description('Deletes a callback. A running daemon registers its own anew.')
    .action(does(async () => (await import('./callbacks-change.ts')).callbacksDelete));
}

function declareLooking(callbacks: Command, does: Does): void {
  callbacks
    .command('list')
    .description('Lists the callbacks at the service, and says which are of this installation.')
    .option('--event <event>', 'of this event; of a noun or its plural, all of its events')
    .option('--uri <uri>', 'to exactly this address')
    .addOption(new Option('--verified <answer>', 'verified, or not').choices(['true', 'false']))
    .addHelpText('after', examples(['vendor-mirror callbacks list --event bill_vendor --verified false']))
    .action(does(async () => (await import('./callbacks-list.ts')).callbacksList));
}
