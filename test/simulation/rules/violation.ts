/** A broken rule; any other error is a fault of the simulation. */
export class Violation extends Error {
  readonly rule: string;
  /** The bill that it is about; empty if none. */
  readonly about: string;

  constructor(rule: string, what: string, about = "") {
    super(`${rule}: ${what}`);
    this.about = about;
    this.rule = rule;
    this.stack = this.message;
  }
}
