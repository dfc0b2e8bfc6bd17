import type { LineState } from "../../contracts/pay-run.ts";

/** States of lines that may still move money, in the order of the index `run_lines_under_way`. */
export const UNDER_WAY: readonly LineState[] = [
  "planned",
  "paying",
  "unknown",
  "scheduled",
  "held",
  "processing",
  "retrying",
];
