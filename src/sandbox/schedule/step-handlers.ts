import { returnTransfer, settleTransfer, submitTransfer } from "../balance/transfer-steps.ts";
import type { SandboxContext } from "../context.ts";
import { receiveMicroDeposits } from "../bank-accounts/micro-deposits.ts";
import { finishSync } from "../accounting/sync.ts";
import {
  clawBackReceipt,
  releaseReceipt,
  settleReceipt,
  submitReceipt,
} from "../invoices/receipts.ts";
import { removeStep, type ScheduledStep, type StepKind } from "./scheduled-steps.ts";

type StepHandler = (ctx: SandboxContext, subject: string, atMs: number) => void;

const stepHandlers: Readonly<Record<StepKind, StepHandler>> = {
  "micro-deposits-arrive": receiveMicroDeposits,
  "accounting-sync-ends": finishSync,
  "receipt-submits": submitReceipt,
  "receipt-releases": releaseReceipt,
  "receipt-settles": settleReceipt,
  "receipt-returns": clawBackReceipt,
  "transfer-submits": submitTransfer,
  "transfer-settles": settleTransfer,
  "transfer-returns": returnTransfer,
};

/** Takes a step as of its instant on the bank clock. Runs inside a transaction. */
export function takeScheduledStep(ctx: SandboxContext, step: ScheduledStep): void {
  removeStep(ctx.db, step.seq);
  stepHandlers[step.kind](ctx, step.subject, step.due_at);
}
