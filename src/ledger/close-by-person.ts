import type { Transaction } from "kysely";
import { isOpenSubject } from "../store/payables/open-subjects.ts";
import type { Tables } from "../store/schema/tables.ts";
import { covers, openSends } from "./derive.ts";
import type { Now } from "./facts.ts";
import { subjectFacts } from "./rows.ts";
import { close } from "./write.ts";

/**
 * Lets a person close a subject once none of its sends can take effect anymore, even if the service
 * shows a payment that is not explained: the person was asked about that payment. The sends stay
 * open for the gate, which still sends nothing without an explanation.
 *
 * @returns false if one of its sends may still take effect
 */
export async function closeByPerson(
  trx: Transaction<Tables>,
  businessId: string,
  subject: string,
  clocks: Pick<Now, "sandbox">,
): Promise<boolean> {
  if (!(await isOpenSubject(trx, businessId, subject))) return true;
  const facts = await subjectFacts(trx, businessId, subject);
  const whole = facts.lookups.filter(({ isWhole }) => isWhole);
  const isOver = openSends(facts).every((send) =>
    whole.some((lookup) => covers(lookup, send, clocks)),
  );
  if (!isOver) return false;
  await close(trx, businessId, [subject]);
  return true;
}
