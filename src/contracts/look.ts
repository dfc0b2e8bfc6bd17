/** What every workflow that lives long is told of where it stands. */
export interface Look {
  /** One sentence for the Temporal UI and `status`, or null where nothing is waited for. */
  readonly waitingFor: string | null;
  /** Real milliseconds after which looking again is worthwhile without a signal. */
  readonly wakeInMs: number;
  /** Markdown for the Temporal UI; nothing personal. */
  readonly details: string;
}
