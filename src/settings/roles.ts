/** What a daemon may be for, where several serve one mirror. */

export const roleNames = ['listen', 'work'] as const;
export type Role = (typeof roleNames)[number];

export function isRole(name: string): name is Role {
  return roleNames.some((known) => known === name);
}

export function hasAllRoles(roles: readonly Role[]): boolean {
  return roleNames.every((name) => roles.includes(name));
}

/** Why one of a mirror in a file cannot do only a part. */
export const rolesOfFile = 'should be [listen, work], because database is a file, and its one daemon does both';
