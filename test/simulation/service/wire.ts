/** A request as its bytes left a process. */
export interface WireRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly key: string | null;
  readonly body: string;
  /** The process that sent it. */
  readonly from: string;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The network: it delivers an answer, an error, or nothing at all. */
export interface Wire {
  send(request: WireRequest, heard: (answer: WireAnswer | Error) => void): void;
}
