/** Types of the tables in the secrets file. The migrations define them. */

export interface VerifierTable {
  account_id: string;
  verifier: string;
  callbackid: number | null;
  state: 'candidate' | 'proven' | 'previous';
  received_at: string;
  expires_at: string | null;
  /** It was received again while a code was awaited, and waits to be tried. */
  came_again: 0 | 1;
}

/** The file of secrets. */
export interface SecretTables {
  owner: { id: number; mirror_id: string; mirror_path: string; daemon_epoch: number };
  path_tokens: { account_id: string; path_token: string };
  verifiers: VerifierTable;
  awaited_codes: { account_id: string; event: string; callbackid: number | null; asked_at: string };
  registrations: { account_id: string; event: string; registered_at: string };
  oauth_tokens: {
    client: string;
    access_token: string | null;
    refresh_token: string | null;
    expires_at: string | null;
    lease_owner: string | null;
    lease_until_ms: number | null;
  };
}
