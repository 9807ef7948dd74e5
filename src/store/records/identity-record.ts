/** Which mirror it is, and whose vendors it holds. */

export interface Identity {
  /** Random, from when the file was made. */
  readonly mirrorId: string;
  /** The service that the mirror belongs to; null until one has answered. */
  readonly service: string | null;
}
