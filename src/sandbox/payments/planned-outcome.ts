/** What the bank does with a payment; `after` is an ISO 8601 duration on the bank clock. */
export interface PlannedOutcome {
  outcome: "settle" | "fail" | "return" | "hold";
  code?: string | undefined;
  reason?: string | undefined;
  after?: string | undefined;
}

export function parsePlanned(text: string | null): PlannedOutcome | undefined {
  return text === null ? undefined : (JSON.parse(text) as PlannedOutcome);
}

interface ReturnReason {
  text: string;
  /** Whose account the code is about: the payer's debit comes back, or the payee's credit. */
  side: "payer" | "payee";
}

const returnReasons: Readonly<Record<string, ReturnReason>> = {
  R01: { text: "Insufficient funds", side: "payer" },
  R02: { text: "Account closed", side: "payee" },
  R03: { text: "No account or unable to locate account", side: "payee" },
  R04: { text: "Invalid account number", side: "payee" },
  R05: { text: "Unauthorized debit to a consumer account", side: "payer" },
  R07: { text: "Authorization revoked by customer", side: "payer" },
  R08: { text: "Payment stopped", side: "payer" },
  R09: { text: "Uncollected funds", side: "payer" },
  R10: { text: "Customer advises not authorized", side: "payer" },
  R11: { text: "Entry not in accordance with the terms of the authorization", side: "payer" },
  R12: { text: "Account sold to another financial institution", side: "payee" },
  R13: { text: "Invalid routing number", side: "payee" },
  R14: { text: "Representative payee deceased", side: "payee" },
  R15: { text: "Beneficiary or account holder deceased", side: "payee" },
  R16: { text: "Account frozen", side: "payee" },
  R17: { text: "Questionable entry", side: "payee" },
  R20: { text: "Non-transaction account", side: "payee" },
  R23: { text: "Credit entry refused by receiver", side: "payee" },
  R24: { text: "Duplicate entry", side: "payee" },
  R29: { text: "Corporate customer advises not authorized", side: "payer" },
};

/** True if a text is a return code that the bank knows, such as `R02`. */
export function isReturnCode(code: string): boolean {
  return Object.hasOwn(returnReasons, code);
}

/** Returns the text that a failed or returned payment carries, such as `R01 Insufficient funds`. */
export function failureText(planned: PlannedOutcome): string {
  if (planned.code === undefined) return planned.reason ?? "R01 Insufficient funds";
  const reason = planned.reason ?? returnReasons[planned.code]?.text;
  return reason === undefined ? planned.code : `${planned.code} ${reason}`;
}

/** True if a failure is about the payer's account; the payee was never credited then. */
export function failsAtPayer(planned: Pick<PlannedOutcome, "code" | "reason">): boolean {
  const code = planned.code ?? /^R\d\d/.exec(planned.reason ?? "R01")?.[0];
  return code === undefined || returnReasons[code]?.side === "payer";
}
