import type { FundingChoice } from "../../src/contracts/pay-run.ts";
import type { LineReason } from "../../src/contracts/reason-codes.ts";
import type { RetryAssessment } from "../../src/contracts/activities.ts";
import type { FailureRule } from "../../src/contracts/playbook.ts";
import { classifyFailure } from "../../src/domain/payments/failure-policy.ts";
import {
  type FailedPayment,
  lineStateOfPayments,
} from "../../src/domain/payments/payment-states.ts";
import { formatUsd, sumCents } from "../../src/domain/money.ts";
import { partsOf } from "../../src/domain/payments/line-parts.ts";
import { arrivalDate, earliestDate } from "../../src/domain/planning/send-date.ts";
import {
  decidingFailure,
  type DecidingFailure,
  type RuledFailure,
} from "../../src/domain/retries/policy.ts";
import {
  type FailureFacts,
  type FailureStep,
  isCauseOpen,
  stepAfterFailure,
} from "../../src/domain/retries/step.ts";
import { whoseAccount } from "../../src/domain/retries/whose-account.ts";
import { refusedSince, runStopped } from "../../src/ledger/run-stopped.ts";
import { planLineOf } from "../../src/store/lines/lines.ts";
import { dayOfFailure, keepRetryCase } from "../../src/store/lines/retry-cases.ts";
import { incidentOfBounce } from "../shared/incident-of-bounce.ts";
import { approvalEndOf, firstSettledOn } from "./approval.ts";
import { decisionAbout, joined, park, waitFor, waitForDay } from "./answers.ts";
import { announceDay } from "./announce-day.ts";
import { failurePlaybook } from "./failure-playbook.ts";
import { type RetryCase, setRow, undealtPayments } from "./retry-case.ts";
import { holdForFailure, liftFailureHolds } from "./failure-holds.ts";

/**
 * Takes the step that the playbook's rule prescribes for a failure: another try, a wait, a hold, or
 * a person.
 */
export async function afterFailure(
  retry: RetryCase,
  failures: readonly FailedPayment[],
): Promise<RetryAssessment> {
  const playbook = await failurePlaybook(retry, failures);
  const funding = await fundingOf(retry);
  const deciding = decidingFailure(playbook.rules, failures, funding.kind);
  const { ruled: failed } = deciding;
  const about = await aboutOf(retry, failed.code, { ...deciding, failures, funding });
  const failedCents = sumCents(failures.map(({ amountCents }) => amountCents));
  const { settledCents = 0 } = partsOf(retry.line.amountCents, undealtPayments(retry)) ?? {};
  const step = stepAfterFailure({
    failed,
    ...about,
    isWhole: failedCents === retry.line.amountCents,
    retriesMade: retry.row.retriesMade,
    firstSettledOn: firstSettledOn(retry),
    today: arrivalDate(retry.clock),
    stopped: await stoppedBy(retry),
  });
  await keepRetryCase(retry.context.store.db, {
    businessId: retry.businessId,
    payableId: retry.payableId,
    failedAtMs: retry.clock.businessMs,
    failedRealMs: retry.clock.realMs,
    sourceId: retry.line.sourceId,
    rule: failed.rule,
    giveUpAfterDays: playbook.giveUpAfterDays,
    giveUpNotify: playbook.giveUpNotify,
    waitsFor: waitOf(step, failed),
  });
  const end = await approvalEndOf(retry, earliestDate(retry.clock));
  await setRow(retry, { approvalEnded: end?.reason ?? null });
  const ids = failures.map((failure) => failure.paymentId);
  const handled = [...new Set([...retry.row.handledPaymentIds, ...ids])];
  return take(retry, step, { deciding, failures, handled, settledCents });
}

/**
 * Decides about a failure that could be either side's, or about one entry alone, once the rest of
 * the day shows it.
 *
 * @returns undefined if nothing shows it yet
 */
export async function decideLater(
  retry: RetryCase,
  rule: FailureRule,
): Promise<RetryAssessment | undefined> {
  const { payments, line } = retry;
  const mine = payments.filter(({ id }) => line.paymentIds.includes(id));
  const outcome = lineStateOfPayments(mine, line.amountCents);
  if (outcome.kind !== "failed") return undefined;
  const { reasons: failures } = outcome;
  const funding = await fundingOf(retry);
  const deciding = decidingFailure([rule], failures, funding.kind);
  const { code } = classifyFailure(deciding.failureReason);
  const about = await aboutOf(retry, code, { ...deciding, failures, funding });
  return isCauseOpen({ ...about, code }, rule) ? undefined : afterFailure(retry, failures);
}

/** Returns what a retry's line is paid from. */
async function fundingOf({ context, line }: RetryCase): Promise<FundingChoice> {
  return (await planLineOf(context.store.db, line)).funding;
}

/** Finds out whose account a failure is about, and how many payments share it. */
async function aboutOf(
  { context, line }: RetryCase,
  code: string | null,
  found: Pick<DecidingFailure, "failureReason"> & {
    readonly failures: readonly FailedPayment[];
    readonly funding: FundingChoice;
  },
): Promise<Pick<FailureFacts, "whose" | "returnsOfDay">> {
  const { failureReason, failures, funding } = found;
  const day = await dayOfFailure(context.store.db, line, code);
  const whose = whoseAccount({ code, failureReason, sourceKind: funding.kind, ...day });
  const same = failures.filter((each) => classifyFailure(each.failureReason).code === code);
  return { whose, returnsOfDay: same.length + day.othersFailed };
}

interface Failed {
  readonly deciding: DecidingFailure;
  readonly failures: readonly FailedPayment[];
  readonly handled: readonly string[];
  /** The amount of the bill that has settled despite the failure. */
  readonly settledCents: number;
}

/**
 * Does what a failure calls for. The failure is marked as dealt with last: after a crash before
 * that, all of it is done once more, and finds the same incident and the same hold.
 */
async function take(
  retry: RetryCase,
  step: FailureStep,
  { deciding, failures, handled, settledCents }: Failed,
): Promise<RetryAssessment> {
  const { code, rule } = deciding.ruled;
  const reason = deciding.failureReason ?? "no reason given";
  const reasonCode: LineReason = code ?? "unknown_reason";
  const { cause, toDo } = classifyFailure(deciding.failureReason);
  const { by: roles, onIncident } = rule;
  const account = { code: reasonCode, reason, roles, callsBack: onIncident !== undefined };
  if (step.kind === "park") {
    if (step.hold === "account") await incidentOfBounce(retry.context, retry, account);
    else if (step.hold !== null) {
      const scope = step.hold === "vendor" ? "contact" : "payable";
      await holdForFailure(retry.context, retry, { scope, failure: reason, roles: rule.by });
    }
    const why = step.why === null ? "" : `${step.why} `;
    const part = partText(failures, settledCents);
    return park(retry, step.code ?? "unknown_reason", `${part}${cause} ${why}${toDo}`, handled);
  }
  const waiting = { phase: "waiting", reasonCode, reason, handledPaymentIds: handled };
  if (step.kind === "retry-on") {
    const { date, ofAtMost } = step;
    await announceDay(retry, date, { reasonCode, reason, ofAtMost }, waiting);
    return waitForDay(retry, date);
  }
  if (step.kind === "wait-for-funds") {
    return waitFor(retry, `money in the funding account ${retry.line.sourceId}`, reason, waiting);
  }
  const incident = await incidentOfBounce(retry.context, retry, account);
  // The vendor, or the bill, was on hold only until it was known what the failure is about.
  await liftFailureHolds(retry);
  const text = decisionAbout(retry.line.sourceId);
  return joined(await waitFor(retry, text, reason, waiting), incident);
}

/** Names the settled part, which a person must not pay again. */
function partText(failures: readonly FailedPayment[], settledCents: number): string {
  if (settledCents === 0) return "";
  const failedCents = sumCents(failures.map(({ amountCents }) => amountCents));
  return `${formatUsd(settledCents)} of it has settled, ${formatUsd(failedCents)} failed. `;
}

function waitOf(step: FailureStep, { rule }: RuledFailure) {
  if (step.kind === "wait-for-incident") return "incident";
  if (step.kind === "wait-for-funds") return "funds";
  if (step.kind === "park" && step.undecided) return "either-side";
  return step.kind === "park" && step.hold === "vendor" && rule.payAgain ? "bank-account" : null;
}

/** Returns why it is not tried again, whatever its playbook says; null if it is. */
export async function stoppedBy(retry: RetryCase): Promise<string | null> {
  const { context, run, line, businessId, payableId } = retry;
  if (line.droppedBy !== null) {
    return `${line.droppedBy} has left it out, so it is not tried again by itself.`;
  }
  const stopped = await runStopped(context.store.db, run, false);
  if (stopped === null) {
    const refused = await refusedSince(context.store.db, businessId, [payableId]);
    const reason = refused.get(payableId)?.reason;
    return reason === undefined ? null : `It is not tried again by itself. ${reason}`;
  }
  const what = stopped.code === "rejected" ? "rejected" : "cancelled";
  return `Its run was ${what}, so nothing is tried again by itself.`;
}
