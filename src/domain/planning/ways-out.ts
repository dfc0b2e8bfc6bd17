import type { OverLimit } from "./limits.ts";

/** The playbook's key of each limit for which a bill can be parked. */
const LIMIT_KEYS: Readonly<Record<OverLimit["code"], string>> = {
  over_bill_limit: "limits.bill",
  over_vendor_week_limit: "limits.vendorPerWeek",
  over_business_week_limit: "limits.businessPerWeek",
};

/**
 * Says how to get a bill paid that a limit of its playbook has parked. A retry doesn't help, and
 * the next run parks it again if the limit still leaves no room for it. Undefined for a bill that
 * is parked for another reason.
 *
 * @param bill the bill as a command names it
 */
export function overLimitText(reasonCode: string | null, bill: string): string | undefined {
  if (!isLimit(reasonCode)) return undefined;
  const otherwise = `raise it in the playbook (payrun apply FILE) or in the business's profile, wherever it stands; then the next run plans the bill and asks, or payrun pay ${bill} does`;
  const key = LIMIT_KEYS[reasonCode];
  return reasonCode === "over_bill_limit"
    ? `Over ${key} a retry doesn't help: ${otherwise}.`
    : `Over ${key} a retry doesn't help in the same week: a run whose week has room plans the bill and asks. Sooner, ${otherwise}.`;
}

/** Lists what a person can do about parked bills, one way per line. */
export function waysOut(
  bills: readonly { readonly reasonCode: string | null }[],
  bill: string,
): string[] {
  const codes = [...new Set(bills.map(({ reasonCode }) => reasonCode))];
  const retry = codes.every(isLimit) ? "" : "--retry, ";
  return [
    ...codes.flatMap((code) => overLimitText(code, bill) ?? []),
    `payrun resolve ${bill} ${retry}--paid-elsewhere or --give-up, and --reason`,
  ];
}

function isLimit(code: string | null): code is OverLimit["code"] {
  return code !== null && Object.hasOwn(LIMIT_KEYS, code);
}
