import { holdTexts } from "../../actions/holds/holds-now.ts";
import type { BusinessProfile } from "../../config/business-profile.ts";
import type { LineState } from "../../contracts/line-states.ts";
import type { PlanLine, SkippedLine } from "../../contracts/pay-run.ts";
import { NEW_YORK } from "../../domain/clock/new-york.ts";
import { paidOnce, type PaidOnceFacts } from "../../domain/payments/paid-once.ts";
import type { AttemptView } from "../../ledger/attempts.ts";
import { auditHash, type AuditEntry } from "../../store/audit/audit.ts";
import type { RunLine } from "../../store/lines/lines.ts";
import type { Hold } from "../../store/holds/holds.ts";
import { lookUpsIn } from "./attempts.ts";
import type { ExternalPayment, PaymentInHistory } from "./payments.ts";
import { asOfSentences, type PaymentsRead } from "./service-payments.ts";

/** The facts on which the verdict about a bill is based. */
interface BillFacts {
  readonly profile: BusinessProfile;
  /** Why the latest run left the bill out; undefined if a run has planned it. */
  readonly leftOut: Pick<SkippedLine, "code" | "text" | "amountCents"> | undefined;
  /** True if the bill's retry has given it back for the next run. */
  readonly givenBack: boolean;
  readonly line: RunLine | undefined;
  readonly plan: PlanLine | undefined;
  readonly places: NonNullable<PaidOnceFacts["lines"]>;
  readonly attempts: readonly AttemptView[];
  readonly trail: readonly AuditEntry[];
  readonly shown: PaymentsRead | undefined;
  readonly payments: readonly PaymentInHistory[];
  readonly externalPayments: readonly ExternalPayment[];
  readonly holds: readonly Hold[];
}

/**
 * Returns the verdict and its evidence, beginning with the age of the facts if the service has not
 * just confirmed them.
 */
export function paidOnceOf(bill: BillFacts) {
  const { profile, line, plan, attempts, trail, shown, payments } = bill;
  const { verdict, way, sentences } = paidOnce({
    state: line?.state ?? null,
    reasonCode: line?.reasonCode ?? null,
    reason: line?.reason ?? null,
    leftOut: bill.leftOut?.text ?? null,
    isGivenBack: bill.givenBack,
    resolvedBy: resolvedBy(trail, line),
    amountCents: plan?.amountCents ?? null,
    totalCents: plan?.totalCents ?? bill.leftOut?.amountCents ?? null,
    lines: bill.places,
    attempts: attempts.map((attempt) => ({ ...attempt, lookUps: lookUpsIn(trail, attempt) })),
    payments,
    others: bill.externalPayments,
    serviceAnswered: shown !== undefined,
  });
  const [conclusion = "", ...requests] = sentences;
  const asOf = asOfSentences(shown, payments, zoneOfProfile(profile));
  return {
    verdict,
    way,
    serviceAnswered: shown !== undefined,
    sentences: [
      conclusion,
      ...(IS_OWED.includes(verdict) && isPaidYet(way, bill) ? holdTexts(bill.holds) : []),
      ...asOf,
      ...requests,
      trailSentence(trail),
    ],
  };
}

/** Verdicts under which something may still be paid, so that a hold matters. */
const IS_OWED: readonly ReturnType<typeof paidOnce>["verdict"][] = ["not-paid", "partly-paid"];

export function zoneOfProfile({ zone }: BusinessProfile): string {
  return zone ?? NEW_YORK;
}

/** Returns the person who ended the bill in its run. */
function resolvedBy(trail: readonly AuditEntry[], line: RunLine | undefined): string | null {
  const ended = trail.findLast(
    ({ action, details }) =>
      action.startsWith("payable.resolved-") && details["runId"] === line?.runId,
  );
  return ended?.action === RESOLVED[line?.state ?? "planned"] ? (ended?.actor ?? null) : null;
}

/**
 * Returns true if Payrun pays the bill once nothing holds it up: false if others pay it, or it is
 * not to be paid.
 */
function isPaidYet(
  way: ReturnType<typeof paidOnce>["way"],
  { line, leftOut }: Pick<BillFacts, "line" | "leftOut">,
): boolean {
  if (way === "paid-elsewhere" || isDecided(line)) return false;
  return leftOut === undefined || !OVER.includes(leftOut.code);
}

/** Reasons for which no run pays a bill any more. */
const OVER: readonly string[] = ["paid", "void", "declined"];

/**
 * Returns true if a person has said that the bill is not to be paid: then holds on it are no news.
 */
function isDecided(line: RunLine | undefined): boolean {
  return RESOLVED[line?.state ?? "planned"] !== undefined;
}

const RESOLVED: Readonly<Partial<Record<LineState, string>>> = {
  "paid-elsewhere": "payable.resolved-paid-elsewhere",
  "given-up": "payable.resolved-give-up",
};

/** Returns the ids of entries that differ from what was written. */
export function changedIn(trail: readonly AuditEntry[]): number[] {
  return trail.filter((entry) => !isAsWritten(entry)).map(({ auditId }) => auditId);
}

function isAsWritten({ detailsText, prevHash, hash, atMs, ...entry }: AuditEntry): boolean {
  return auditHash({ ...entry, nowMs: atMs }, detailsText, prevHash) === hash;
}

function trailSentence(trail: readonly AuditEntry[]): string {
  const changed = changedIn(trail);
  if (changed.length > 0) {
    return `Entry ${changed.join(", ")} of the audit trail is not what was written: run payrun audit verify.`;
  }
  const count = trail.length === 1 ? "entry" : `${trail.length} entries`;
  return trail.length === 0
    ? "The audit trail has no entry of its own about it."
    : `The audit trail's ${count} about it ${trail.length === 1 ? "is" : "are"} as written; payrun audit verify checks that none is missing.`;
}
