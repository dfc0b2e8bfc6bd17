export type CopyRefusal = "same" | "in-use" | "leasing" | "not-empty";

/** A store can't be copied now; `message` says why, and what to do. Nothing was written. */
export class CopyRefusedError extends Error {
  override readonly name = "CopyRefusedError";
  readonly code: CopyRefusal;

  constructor(code: CopyRefusal, message: string) {
    super(message);
    this.code = code;
  }
}
