import type { BusinessProfile } from "../config/business-profile.ts";
import { ENDED_LINE_STATES } from "../contracts/pay-run.ts";
import type { Db } from "../store/index.ts";
import { toRunLine, type RunLine } from "../store/lines.ts";
import type { GatewayContext } from "./context.ts";
import { conflict, notFound } from "./http/errors.ts";
import { businessNamed } from "./launch.ts";

/**
 * The business that a payable of some run or plan belongs to.
 *
 * @throws GatewayError 404 where no run has ever seen it, 409 where two businesses have
 */
export async function businessOfPayable(
  context: Pick<GatewayContext, "store" | "profiles">,
  payableId: string,
  business: string | undefined,
): Promise<BusinessProfile> {
  if (business !== undefined) return businessNamed(context, business, "");
  const { db } = context.store;
  const ofLines = await db
    .selectFrom("run_lines")
    .select("business_id")
    .distinct()
    .where("payable_id", "=", payableId)
    .execute();
  const ofSkipped = await db
    .selectFrom("plan_skipped")
    .innerJoin("runs", "runs.run_id", "plan_skipped.run_id")
    .select("runs.business_id")
    .distinct()
    .where("plan_skipped.payable_id", "=", payableId)
    .execute();
  const ids = new Set([...ofLines, ...ofSkipped].map((row) => row.business_id));
  const profiles = context.profiles.all().filter((profile) => ids.has(profile.businessId));
  const [first, second] = profiles;
  if (first === undefined) throw notFound(`No run has seen a payable “${payableId}”.`);
  if (second !== undefined) {
    throw conflict(
      "business_ambiguous",
      `Several businesses have a payable “${payableId}”: add ?business= (${profiles.map((profile) => profile.name).join(", ")}).`,
    );
  }
  return first;
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
