import { accountRemoved } from "../domain/notices/source-texts.ts";
import { unfundSource, usesOfSource } from "../store/lines/funding-lines.ts";
import type { InboxEvent } from "../store/events/inbox.ts";
import { raiseNotice } from "../store/notices/notices.ts";
import { signalOnCommit } from "../store/signals/pending-signals.ts";
import type { ActionContext } from "../actions/context.ts";

const REMOVED = "bank_account.removed";
const VERIFIED = "bank_account.verified";

/**
 * Acts on bank accounts that were removed or verified: the runs that pay from one look at it again.
 * Bills that were to be paid from a removed one have no money any more, and operators hear of it.
 * Whether the service lists the account is read by the runs.
 */
export async function actOnAccounts(
  { store, nowMs }: Pick<ActionContext, "store" | "nowMs">,
  businessId: string,
  events: readonly InboxEvent[],
): Promise<void> {
  for (const { eventId, type, objectId: sourceId } of events) {
    if (type !== REMOVED && type !== VERIFIED) continue;
    await store.transactionOf(businessId, async (trx) => {
      const at = { businessId, sourceId, nowMs: nowMs() };
      const uses = await usesOfSource(trx, at);
      if (type === REMOVED) {
        await unfundSource(trx, at);
        await raiseNotice(trx, {
          ...{ businessId, kind: "funding-source-removed", factKey: eventId },
          ...accountRemoved(sourceId, uses),
          ...{ roles: ["operator"], data: { sourceId, uses }, nowMs: at.nowMs },
        });
      }
      for (const workflowId of new Set(uses.map(({ runId }) => runId))) {
        signalOnCommit(trx, businessId, { kind: "workflow", workflowId });
      }
    });
  }
}
