import type { RetryFailedPlaybook } from "../../src/contracts/playbook.ts";
import { classifyFailures } from "../../src/domain/payments/failure-policy.ts";
import { unattendedFailures } from "../../src/domain/retries/policy.ts";
import { getPlaybook } from "../../src/store/playbooks/playbooks.ts";
import { dayOfFailure } from "../../src/store/lines/retry-cases.ts";
import type { RetryCase } from "./retry-case.ts";

/** Returns the playbook that a run names for its failures; the built-in one if none is stored. */
export async function failurePlaybook(
  { context, run, line }: RetryCase,
  failures: readonly { readonly failureReason: string | null }[],
): Promise<RetryFailedPlaybook> {
  const { db } = context.store;
  const name = run.policy.onFailure;
  const compiled = (await getPlaybook(db, { business: run.business, name }))?.compiled;
  if (compiled?.kind === "retry-failed") return compiled;
  const { otherVendorsFailed } = await dayOfFailure(db, line, classifyFailures(failures).code);
  return unattendedFailures(name, otherVendorsFailed);
}
