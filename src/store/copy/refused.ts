export type CopyRefusal = "same" | "in_use" | "leasing" | "not_empty";

/** A store can't be copied now; `message` says why, and what to do. Nothing was written. */
export class CopyRefusedError extends Error {
  override readonly name = "CopyRefusedError";
  readonly code: CopyRefusal;

  constructor(code: CopyRefusal, message: string) {
    super(message);
    this.code = code;
  }
}
