import { readPayee, watchScheduled } from "../safety-net.ts";
import type { RetryCase } from "./retry-case.ts";

/** Looks at a retry that the service has scheduled as its run looks at its payments. */
export async function watchRetry(
  { context, run, business, line, payableId, payments, clock }: RetryCase,
  state: string,
): Promise<void> {
  if (state !== "scheduled" && state !== "held") return;
  const payee = await readPayee(context, business, line.contactId);
  await watchScheduled(context, run, [{ ...line, state }], {
    payments: new Map([[payableId, payments]]),
    payees: new Map([[line.contactId, payee]]),
    clock,
  });
}
