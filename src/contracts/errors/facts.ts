/** What a program that uses the gateway needs to know of an error code. */
export interface ErrorFacts {
  /** The status of the answers that have it. */
  readonly status: number;
  readonly means: string;
  /** What the caller does about it. */
  readonly remedy: string;
}
