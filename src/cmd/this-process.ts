/** This process among others, so that runs which died can be told from those under way. */
export const thisProcess = {
  pid: process.pid,
  /** Whether a process of this number lives on this machine. */
  isAlive(pid: number): boolean {
    try {
      process.kill(pid, 0);
      return true;
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'EPERM';
    }
  },
};
