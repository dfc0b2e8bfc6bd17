/** An operation that was refused, in the API's words. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly status: number;
  /** Lower snake case. */
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}
