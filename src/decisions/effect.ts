import { DECIDABLE } from "../contracts/pay-run.ts";
import {
  missingOf,
  NOTHING,
  owesItTo,
  plus,
  type WaitingLines,
  WaitingSums,
} from "../domain/approvals/share.ts";
import { effectText } from "../domain/approvals/share-texts.ts";
import type { BillSum } from "../domain/counted.ts";
import { holdOn } from "../domain/holds.ts";
import { activeHolds } from "../store/holds/holds.ts";
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
  /** The same in a sentence. */
  readonly summary: string;
}

/** What a decision that was just stored brings about. */
export async function effectOf(
  db: Db,
  { run, request, principal, clock }: Deciding,
): Promise<EffectOfApproval> {
  if (request.decision === "reject") {
    const summary = "Nothing more of it is paid.";
    return { goesOut: NOTHING, held: NOTHING, missing: [], summary };
  }
  const { runId, playbook, businessId } = run;
  const holds = await activeHolds(db, businessId, Math.floor(clock.businessMs));
  const missing = new WaitingSums();
  let [goesOut, held] = [NOTHING, NOTHING];
  for await (const page of linesUnderApproval(db, runId, DECIDABLE, clock.businessMs)) {
    for (const { planned, under } of page) {
      const { line } = planned;
      const lacks = missingOf(under);
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
  return { ...effect, summary: effectText(effect) };
}
