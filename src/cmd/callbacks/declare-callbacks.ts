/** The commands about callbacks, straight to the service. */
import { Option, type Command } from 'commander';
import type { LazyAction } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';
import { eventName, idNumber, webAddress } from '../options/option-values.ts';

export function declareCallbacks(program: Command, lazy: LazyAction): void {
  const callbacks = program
    .command('callbacks')
    .summary('list, register, verify, resend, delete webhook callbacks')
    .description(
      paragraphs(
        'The webhook callbacks registered in the service, for any event. The daemon manages its own callbacks automatically.',
        "Addresses are shown without the secret at the end of a mirror's own.",
      ),
    );
  declareLooking(callbacks, lazy);
  callbacks
    .command('register')
    .summary('register a callback')
    .argument('<event>', 'such as bill_vendor or invoice.create; a noun alone means all its events', eventName)
    .argument('<uri>', 'the address that receives the webhooks', webAddress)
    .description('Registers a callback. The service sends a verification code to the address.')
    .addHelpText('after', examples(['vendor-mirror callbacks register invoice.create https://hooks.example.com/inbox']))
    .action(lazy(async () => (await import('./callbacks-change.ts')).callbacksRegister));
  callbacks
    .command('verify')
    .summary('return a verification code')
    .argument('<callbackid>', "the callback's number", idNumber)
    .argument('[code]', 'the verification code; better left out, because others may see it on the command line')
    .description(
      paragraphs(
        'Returns the verification code that the service sent to the address. Then the service begins to deliver.',
        'Without a code, or with -, the code is read from standard input; on a terminal, you are asked for it.',
      ),
    )
    .addHelpText('after', examples(['vendor-mirror callbacks verify 2001 < code.txt']))
    .action(lazy(async () => (await import('./callbacks-change.ts')).callbacksVerify));
  callbacks
    .command('resend')
    .summary('request a new verification code')
    .argument('<callbackid>', "the callback's number", idNumber)
    .description('Requests a new verification code. Until it is verified, nothing is delivered.')
    .action(lazy(async () => (await import('./callbacks-change.ts')).callbacksResend));
  callbacks
    .command('delete')
    .summary('delete a callback')
    .argument('<callbackid>', "the callback's number", idNumber)
    .description('Deletes a callback. A running daemon registers its own again.')
    .action(lazy(async () => (await import('./callbacks-change.ts')).callbacksDelete));
}

function declareLooking(callbacks: Command, lazy: LazyAction): void {
  callbacks
    .command('list')
    .summary('list the callbacks in the service')
    .description('Lists the callbacks registered in the service and marks those of this installation.')
    .option('--event <event>', 'only for this event; a noun or its plural means all its events')
    .option('--uri <uri>', 'only to exactly this address')
    .addOption(new Option('--verified <answer>', 'only verified ones, or only others').choices(['true', 'false']))
    .addHelpText('after', examples(['vendor-mirror callbacks list --event bill_vendor --verified false']))
    .action(lazy(async () => (await import('./callbacks-list.ts')).callbacksList));
}
