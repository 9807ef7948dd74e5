/** Keeps private words out of names where the field has one of its own: a rule for identifiers and for file names. */
import { basename } from 'node:path';

/** Each word with what is said instead. */
const replacements = {
  announcer: 'event dispatcher',
  attend: 'process',
  attendance: 'attempt options',
  bell: 'signal',
  census: 'vendor scan',
  chore: 'maintenance',
  chores: 'maintenance',
  complain: 'print error',
  crowd: 'connection limits',
  deaf: 'signature monitor',
  deafness: 'signature monitor',
  deed: 'transaction',
  deeds: 'transactions',
  desk: 'supervisor',
  desks: 'supervisors',
  dice: 'random',
  disown: 'stop serving',
  emptiness: 'empty list',
  hearing: 'signature monitor',
  holdings: 'own callbacks',
  house: 'testbed',
  household: 'testbed',
  judgement: 'lag guard',
  keeper: 'subscription manager',
  keyring: 'verifier cache',
  kin: 'child rows',
  knock: 'probe',
  letter: 'outgoing delivery',
  letters: 'outgoing deliveries',
  mending: 'reconciler',
  nap: 'wait',
  obey: 're-raise',
  occasion: 'change context',
  patience: 'retry limits',
  patiently: 'retry while locked',
  reception: 'delivery receiver',
  remark: 'notice',
  resident: 'vendor scan',
  residents: 'vendor scan',
  reworded: 'with message',
  road: 'source',
  roads: 'sources',
  ruling: 'acceptance',
  seam: 'dependency',
  seams: 'dependencies',
  sighting: 'read result',
  soundness: 'integrity check',
  vault: 'token store',
};

const wordsOf = (name) => name.split(/(?=[A-Z])|[-_#.$]/).map((word) => word.toLowerCase());

/** @type {import('eslint').Rule.RuleModule} */
export const plainWords = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { private: '`{{name}}`: `{{word}}` is a private word; write {{instead}}.' },
  },
  create(context) {
    const seen = new Set();
    const check = (node, name) => {
      // Columns, and fields of the service, are public: they are in snake case.
      if (seen.has(name) || /[a-z]_[a-z]/.test(name)) return;
      seen.add(name);
      const word = wordsOf(name).find((word) => Object.hasOwn(replacements, word));
      if (word) context.report({ node, messageId: 'private', data: { name, word, instead: replacements[word] } });
    };
    return {
      Program: (node) => check(node, basename(context.filename)),
      Identifier(node) {
        // A property is named where it is declared; `Math.floor` is the language's own.
        const isUse = node.parent.type === 'MemberExpression' && node.parent.property === node && !node.parent.computed;
        if (!isUse) check(node, node.name);
      },
      PrivateIdentifier: (node) => check(node, node.name),
    };
  },
};
