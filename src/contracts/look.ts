/** Where a long-lived workflow stands; every look returns at least this. */
export interface Look {
  /** One sentence for the Temporal UI and `status`; null if it waits for nothing. */
  readonly waitingFor: string | null;
  /** Progress so far in a few words, for a reader of the history; nothing personal. */
  readonly soFar?: string;
  /** The name that people use for its subject. */
  readonly about?: string;
  /** Real milliseconds after which to look again if no signal comes. */
  readonly wakeInMs: number;
  /** Markdown for the Temporal UI; nothing personal. */
  readonly details: string;
  /** The outcome that the workflow returns; null until it ends. */
  readonly outcome?: string | null;
}

/** Characters; Temporal refuses longer summaries of workflows and timers. */
export const SUMMARY_MAX = 190;
