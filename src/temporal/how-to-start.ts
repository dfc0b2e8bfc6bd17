/**
 * Says, for people, how to start the Temporal server that can't be reached.
 *
 * @param isNamed true if Temporal's variables or a profile name it: then “payrun up” starts none
 */
export function howToStart(isNamed: boolean): string {
  return isNamed
    ? "TEMPORAL_ADDRESS, or a profile of Temporal's, names it: start that one (“temporal server start-dev” is one), or unset this, and “payrun up” starts one of its own."
    : "“payrun up” or “temporal server start-dev” starts one; TEMPORAL_ADDRESS names another.";
}
