import { namesOther, type ListedPayment, ofBill } from "../domain/payments/whose.ts";
import { getLinesOfPayables } from "../store/lines/plan-lines.ts";
import type { Db } from "../store/sql/db.ts";
import { madeIdsOf } from "./derive.ts";
import { subjectFacts } from "./rows.ts";

/** Returns the ids of all payments that are known to be Payrun's own for a bill, whichever run's. */
export async function madePayments(
  db: Db,
  businessId: string,
  payableId: string,
): Promise<ReadonlySet<string>> {
  const { attempts } = await subjectFacts(db, businessId, payableId);
  const lines = await getLinesOfPayables(db, businessId, [payableId]);
  const ids = [...attempts.flatMap(madeIdsOf), ...lines.flatMap(({ line }) => line.paymentIds)];
  return new Set(ids);
}

/** Returns a bill's payments out of those that the service lists for it (`ofBill`). */
export async function paymentsOfBill<P extends ListedPayment>(
  db: Db,
  businessId: string,
  payableId: string,
  listed: readonly P[],
): Promise<readonly P[]> {
  // A service that keeps to its filter costs no look into the store.
  if (!listed.some((payment) => namesOther(payment, payableId))) return listed;
  return ofBill(payableId, listed, await madePayments(db, businessId, payableId));
}
