/** What every workflow that lives long is told of where it stands. */
export interface Look {
  /** One sentence for the Temporal UI and `status`, or null where nothing is waited for. */
  readonly waitingFor: string | null;
  /** What has come of it so far, in a few words for whoever reads the history; nothing personal. */
  readonly soFar?: string;
  /** What it is about, as people call it. */
  readonly about?: string;
  /** Real milliseconds after which looking again is worthwhile without a signal. */
  readonly wakeInMs: number;
  /** Markdown for the Temporal UI; nothing personal. */
  readonly details: string;
}
