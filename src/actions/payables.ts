import type { BusinessProfile } from "../config/business-profile.ts";
import { ENDED_LINE_STATES } from "../contracts/pay-run.ts";
import type { Db } from "../store/index.ts";
import { toRunLine, type RunLine } from "../store/lines/lines.ts";
import type { ActionContext } from "./context.ts";
import { conflict, notFound } from "./errors.ts";
import { businessNamed } from "./businesses.ts";

/**
 * The business that a payable belongs to: one that has planned or left it out, tried to pay it,
 * looked after a failure of it, cancelled payments of it or set a hold on it.
 *
 * @throws GatewayError 404 where nothing is known of it, 409 where two businesses know one of its id
 */
export async function businessOfPayable(
  context: Pick<ActionContext, "store" | "profiles">,
  payableId: string,
  business: string | undefined,
): Promise<BusinessProfile> {
  const named = business === undefined ? undefined : businessNamed(context, business, "");
  const all = context.profiles.all();
  const ids = all.map(({ businessId }) => businessId);
  const known = await businessesKnowing(context.store.db, payableId, ids);
  const profiles = all.filter(({ businessId }) => known.has(businessId));
  if (named !== undefined && known.has(named.businessId)) return named;
  const [first, second] = profiles;
  if (first === undefined || named !== undefined) {
    const elsewhere = profiles.map(({ name }) => name).join(", ");
    throw notFound(
      `No run has seen a payable “${payableId}”${named === undefined ? "" : ` of ${named.name}`}, and nothing else is known of it. ` +
        (elsewhere === ""
          ? "It is named by the id that the service's API gives it, not by the number in its dashboard."
          : `There is one of ${elsewhere}.`),
    );
  }
  if (second !== undefined) {
    throw conflict(
      "business_ambiguous",
      `Several businesses have a payable “${payableId}”: add ?business= (${profiles.map((profile) => profile.name).join(", ")}), or --business on the command line.`,
    );
  }
  return first;
}

/** Which of some businesses have rows about a payable. */
async function businessesKnowing(
  db: Db,
  payableId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const about = (table: "run_lines" | "retries" | "cancellation_items") =>
    db
      .selectFrom(table)
      .select("business_id")
      .where("business_id", "in", ids)
      .where("payable_id", "=", payableId);
  const leftOut = db
    .selectFrom("plan_skipped")
    .innerJoin("runs", "runs.run_id", "plan_skipped.run_id")
    .select("runs.business_id")
    .where("runs.business_id", "in", ids)
    .where("plan_skipped.payable_id", "=", payableId);
  const tried = db
    .selectFrom("attempts")
    .select("business_id")
    .where("business_id", "in", ids)
    .where("subject", "=", payableId);
  const held = db
    .selectFrom("holds")
    .select("business_id")
    .where("business_id", "in", ids)
    .where("scope", "=", "payable")
    .where("value", "=", payableId);
  const rows = await about("run_lines")
    .union(about("retries"))
    .union(about("cancellation_items"))
    .union(leftOut)
    .union(tried)
    .union(held)
    .execute();
  return new Set(rows.map((row) => row.business_id));
}

/**
 * The line that stands for a payable now: one that still asks something of its run, else the one
 * that changed last.
 */
export async function currentLineOf(
  db: Db,
  businessId: string,
  payableId: string,
): Promise<RunLine | undefined> {
  const rows = await db
    .selectFrom("run_lines")
    .selectAll()
    .where("business_id", "=", businessId)
    .where("payable_id", "=", payableId)
    .orderBy("updated_at_ms", "desc")
    .execute();
  const lines = rows.map(toRunLine);
  return lines.find((line) => !ENDED_LINE_STATES.includes(line.state)) ?? lines[0];
}
