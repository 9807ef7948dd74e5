/** The kinds of fault, in a file that the command line loads without the rest of the sandbox. */

/** Every kind, with what it does. */
export const faultKinds = {
  '401': 'the token is refused',
  '403': 'access is refused',
  '429': 'too many requests, Retry-After in seconds',
  '429_date': 'too many requests, Retry-After as a date',
  '500': 'a fault of the service',
  '503': 'the service is down, Retry-After in seconds',
  html: 'a maintenance page with status 200',
  errors_in_200: 'an accounting error inside status 200',
  redirect: 'a redirect to another host',
  hang: 'no answer at all',
  reset: 'the connection breaks before anything is done',
  reset_after: 'the connection breaks after everything is done',
  stall: 'the body stops half-way, the connection stays',
  truncated: 'the body breaks off half-way',
  empty_list: 'a list without rows',
  wrong_page: 'a list that names another page than the one it shows',
} as const;
export type FaultKind = keyof typeof faultKinds;
