import type { OnboardingMove, ProvidedView } from "./decide.ts";
import { provideCommand } from "./decide.ts";
import { SERVICE_MUST_ACT } from "./waits.ts";

/** The facts of a business's bank account that decisions need (API specification, section 2). */
export interface AccountView {
  readonly id: string;
  readonly status: string;
  readonly last4: string | null;
  /** True once its micro-deposits can be confirmed. */
  readonly hasArrived: boolean;
  /** When its micro-deposits were sent, in milliseconds; null if the service doesn't say. */
  readonly initiatedAtMs: number | null;
  /** Wrong attempts that the service has counted. */
  readonly counted: number;
  /** `counted`, or more if Payrun has made more attempts. */
  readonly attempts: number;
}

/**
 * After this many wrong attempts only a person may allow another: the third one closes the account.
 */
const ATTEMPTS_WITHOUT_ASKING = 2;

export type AccountDecision =
  | Exclude<OnboardingMove, { readonly do: "verified" }>
  | { do: "finished" };

/**
 * Decides what is next for the bank account of a verified business: link an account, wait for its
 * two deposits, and let a person enter their amounts.
 */
export function decideBankAccount(
  business: string,
  accounts: readonly AccountView[],
  provided: readonly ProvidedView[],
): AccountDecision {
  if (accounts.some(({ status }) => status === "verified")) return { do: "finished" };
  const next = (step: ProvidedView["step"]) =>
    provided.find((input) => input.step === step && input.state === "waiting");
  const newest = next("bank-account");
  if (newest !== undefined) return { do: "send", phase: "verified", input: newest };
  const account = pendingAccount(accounts);
  const given = provided.filter(
    ({ step }) => step === "bank-account" || step === "micro-deposits",
  ).length;
  const wait = (needsPerson: boolean, text: string, key: string): AccountDecision => ({
    do: "wait",
    phase: "verified",
    needsPerson,
    text,
    key: `${key}:${given}`,
  });
  if (account === undefined) {
    const text = `The business is verified. To pay from a bank account, link one in the service's web app, or: ${provideCommand(business, "bank-account")}`;
    return wait(true, text, "bank-account");
  }
  const name = account.last4 === null ? "the bank account" : `the account ••${account.last4}`;
  if (!account.hasArrived) {
    return wait(
      false,
      `Two small deposits are on their way to ${name}.`,
      `${SERVICE_MUST_ACT}micro-deposits`,
    );
  }
  const amounts = next("micro-deposits");
  if (amounts !== undefined) return { do: "send", phase: "verified", input: amounts };
  const last = isLastAttempt(account)
    ? " Two attempts were wrong, and a third wrong one closes the account: check the bank's statement, and set lastAttempt: true."
    : "";
  const text = `The amounts of the two small deposits on ${name}.${last} ${provideCommand(business, "micro-deposits")}`;
  return wait(true, text, `micro-deposits:${account.attempts}`);
}

/**
 * Returns the account whose deposits are confirmed next: the one that was linked last, in whatever
 * order the service lists them.
 */
export function pendingAccount(accounts: readonly AccountView[]): AccountView | undefined {
  return accounts
    .filter(({ status }) => status === "pending_verification")
    .toSorted((a, b) => (a.initiatedAtMs ?? 0) - (b.initiatedAtMs ?? 0))
    .at(-1);
}

/** True if the next wrong attempt may be the last that the service accepts. */
export function isLastAttempt({ attempts }: Pick<AccountView, "attempts">): boolean {
  return attempts >= ATTEMPTS_WITHOUT_ASKING;
}
