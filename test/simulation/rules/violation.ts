/** A rule that was broken; everything else that is thrown is a fault of the simulation. */
export class Violation extends Error {
  readonly rule: string;

  constructor(rule: string, what: string) {
    super(`${rule}: ${what}`);
    this.rule = rule;
    this.stack = this.message;
  }
}
