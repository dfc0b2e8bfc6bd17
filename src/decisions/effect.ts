import { DECIDABLE } from "../contracts/pay-run.ts";
import {
  hasApproved,
  missingOf,
  NOTHING,
  owesItTo,
  plus,
  type WaitingLines,
  WaitingSums,
} from "../domain/approvals/share.ts";
import { bankChangeOf } from "../domain/approvals/bank-changes.ts";
import { effectText } from "../domain/approvals/share-texts.ts";
import type { BillSum } from "../domain/counted.ts";
import { holdOn } from "../domain/holds.ts";
import { activeHolds } from "../store/holds/holds.ts";
import { decisionsOfRun } from "../store/approvals/decisions.ts";
import type { Db } from "../store/index.ts";
import { linesUnderApproval } from "../store/lines/decidable-lines.ts";
import type { Deciding } from "./deciding.ts";

/** What a decision brings about. */
export interface EffectOfApproval {
  /** Bills that go out because of it. */
  readonly goesOut: BillSum;
  /** Bills that nothing but a hold keeps from going out. */
  readonly held: BillSum;
  /** Whom the others wait for. */
  readonly missing: readonly WaitingLines[];
  /** Vendors with another bank account that it lets money go to, and nobody said how that was verified. */
  readonly unverifiedBankChanges: readonly BankChange[];
  /** The same in a sentence. */
  readonly summary: string;
}

interface BankChange {
  readonly contactId: string;
  readonly contactName: string | null;
  /** What the plan says of it. */
  readonly text: string;
}

/** What a decision that was just stored brings about. */
export async function effectOf(
  db: Db,
  { run, request, principal, clock }: Deciding,
): Promise<EffectOfApproval> {
  if (request.decision === "reject") {
    const summary = "Nothing more of it is paid.";
    return { goesOut: NOTHING, held: NOTHING, missing: [], unverifiedBankChanges: [], summary };
  }
  const { runId, playbook, businessId } = run;
  const holds = await activeHolds(db, businessId, Math.floor(clock.businessMs));
  const verified = await verifiedContacts(db, runId);
  const unverified = new Map<string, BankChange>();
  const missing = new WaitingSums();
  let [goesOut, held] = [NOTHING, NOTHING];
  for await (const page of linesUnderApproval(db, runId, DECIDABLE, clock.businessMs)) {
    for (const { planned, under } of page) {
      const { line } = planned;
      const lacks = missingOf(under);
      const changed = bankChangeOf(planned.plan);
      if (changed !== undefined && hasApproved(under, principal) && !verified.has(line.contactId)) {
        const { contactId, contactName } = planned.plan;
        unverified.set(contactId, { contactId, contactName, text: changed });
      }
      if (lacks !== null) {
        if (line.state === "awaiting-approval") missing.add(lacks, line.amountCents);
      } else if (owesItTo(under, principal.name)) {
        const hold = holdOn(holds, { ...line, runId, playbook });
        const isHeld = line.state === "on-hold" || hold !== undefined;
        if (isHeld) held = plus(held, line.amountCents);
        else goesOut = plus(goesOut, line.amountCents);
      }
    }
  }
  const effect = { goesOut, held, missing: missing.all() };
  const unverifiedBankChanges = [...unverified.values()];
  return { ...effect, unverifiedBankChanges, summary: effectText(effect) };
}

/** Vendors whose changed account somebody has verified for the run. */
async function verifiedContacts(db: Db, runId: string): Promise<ReadonlySet<string>> {
  const decisions = await decisionsOfRun(db, runId);
  const counted = decisions.filter(({ outcome }) => outcome === "accepted");
  return new Set(counted.flatMap(({ bankChanges }) => bankChanges.map((each) => each.contactId)));
}
