/** A playbook that retries failed payments by itself, if Nacha allows it, and holds nothing. */
export const NEXT_DAY_RETRIES = [
  "kind: retry-failed",
  "rules:",
  "  - { match: [R01, R09], retry: next-business-day }",
  "  - { match: anything-else, ask: [operator] }",
  "giveUp: { after: 180 days }",
  "",
].join("\n");
