import eslint from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** What ties a run to this machine's clock, randomness or network: each is known to one file. */
const passedIn = {
  clock: [
    { name: 'Date', message: 'Take a Clock (src/domain/clock.ts).' },
    { name: 'setTimeout', message: 'Take a Clock (src/domain/clock.ts).' },
    { name: 'setInterval', message: 'Take a Clock (src/domain/clock.ts).' },
    { name: 'setImmediate', message: 'Take a Clock (src/domain/clock.ts).' },
    { name: 'performance', message: 'Take a Clock (src/domain/clock.ts).' },
  ],
  network: [{ name: 'fetch', message: 'Take a Fetch (src/api/http/request.ts).' }],
};
const outsideProperties = [
  { object: 'Math', property: 'random', message: 'Take a Random (src/domain/clock.ts).' },
  { object: 'AbortSignal', property: 'timeout', message: 'Take a Clock (src/domain/clock.ts).' },
  { object: 'process', property: 'hrtime', message: 'Take a Clock (src/domain/clock.ts).' },
];

/** What scripts use of Node.js without importing it. */
const globals = Object.fromEntries(
  ['URL', 'console', 'process', 'setTimeout', 'clearTimeout'].map((name) => [name, 'readonly']),
);

export default defineConfig(
  { ignores: ['dist/', 'data/', 'coverage/'] },
  eslint.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        project: ['tsconfig.json', 'src/admin/page/browser/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/prefer-nullish-coalescing': ['error', { ignorePrimitives: { string: true } }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      'no-console': 'error',
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', ...passedIn.clock, ...passedIn.network],
      'no-restricted-properties': ['error', ...outsideProperties],
    },
  },
  {
    files: ['src/domain/clock.ts', 'src/admin/page/browser/*.ts'],
    rules: { 'no-restricted-globals': 'off', 'no-restricted-properties': 'off' },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/explicit-module-boundary-types': 'off',
    },
  },
  {
    files: ['test/simulation/main.ts', 'test/simulation/runs/report.ts', 'test/simulation/sweeps/main.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['.ci/*.js', '.config/*.js', '*.config.js'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { globals: globals },
    rules: { '@typescript-eslint/explicit-module-boundary-types': 'off', 'no-console': 'off' },
  },
);
