/** A rule that was broken; everything else that is thrown is a fault of the simulation. */
export class Violation extends Error {
  readonly rule: string;
  /** The bill that it is about; empty for none. */
  readonly about: string;

  constructor(rule: string, what: string, about = "") {
    super(`${rule}: ${what}`);
    this.about = about;
    this.rule = rule;
    this.stack = this.message;
  }
}
