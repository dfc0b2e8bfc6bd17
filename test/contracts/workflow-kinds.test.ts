import { expect, it } from "vitest";
import {
  cancelScheduledPaymentsId,
  fundingIncidentId,
  isOfKind,
  kybOnboardingId,
  likeOf,
  payRunId,
  planDryId,
  retryFailedPaymentId,
} from "../../src/contracts/workflow-kinds.ts";

const IDS = {
  payRun: payRunId("acme", "rent", "2026-11-26", 2),
  retryFailedPayment: retryFailedPaymentId("acme", "payable_1"),
  cancelScheduledPayments: cancelScheduledPaymentsId("acme", "request"),
  kybOnboarding: kybOnboardingId("acme"),
  fundingIncident: fundingIncidentId("acme", "balance"),
  planDry: planDryId("acme", "rent", "1"),
};
const KINDS = [
  "payRun",
  "retryFailedPayment",
  "cancelScheduledPayments",
  "kybOnboarding",
  "fundingIncident",
  "planDry",
] as const;

it.each(KINDS)("ids of the kind %s are recognized as that kind's, and as no other's", (kind) => {
  expect(KINDS.filter((each) => isOfKind(IDS[kind], each))).toEqual([kind]);
  const begins = KINDS.filter((each) => IDS[kind].startsWith(likeOf(each).replace(/%$/, "")));
  expect(begins).toEqual([kind]);
});
