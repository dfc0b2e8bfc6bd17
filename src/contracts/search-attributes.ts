/** Search attributes registered at start-up; never anything personal: they are not encrypted. */
export const SEARCH_ATTRIBUTES = {
  PayrunBusiness: "KEYWORD",
  PayrunPlaybook: "KEYWORD",
  PayrunPhase: "KEYWORD",
  PayrunNeedsAction: "BOOL",
  PayrunExceptions: "INT",
  PayrunTotalCents: "INT",
  PayrunPayDate: "DATETIME",
} as const;
