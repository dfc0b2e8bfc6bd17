/** A run can't be planned until a person changes something; the message says what, and where. */
export class PlanRefusedError extends Error {
  override readonly name = "PlanRefusedError";
}
