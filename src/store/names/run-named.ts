import { ENDED_PHASES } from "../../contracts/pay-run.ts";
import { cancelScheduledPaymentsId } from "../../contracts/workflow-kinds.ts";
import { isOffCyclePeriod } from "../../domain/off-cycle.ts";
import { NEAR_MOST, suggest } from "../../domain/suggest.ts";
import { listPlaybooks } from "../playbooks/playbooks.ts";
import type { Db } from "../sql/db.ts";
import { type CalledWorkflow, workflowsOfPlaybook, workflowWithId } from "./workflows-called.ts";

/** How many of the newest runs of a playbook a short name is compared with. */
const RUNS_COMPARED = 500;

interface RunNamed {
  readonly run?: CalledWorkflow;
  /** What the person may have meant, if there is none of that name. */
  readonly near: readonly CalledWorkflow[];
}

/**
 * Finds the run of any kind that a person means: by its id, by `rent` for the newest of a playbook,
 * or by `rent/2026-11-26`.
 */
export async function runNamed(
  db: Db,
  { businessId, business }: { readonly businessId: string; readonly business: string },
  text: string,
): Promise<RunNamed> {
  const withoutBusiness = text.startsWith(`${business}/`) ? text.slice(business.length + 1) : text;
  for (const id of [text, cancelScheduledPaymentsId(business, withoutBusiness)]) {
    const run = await workflowWithId(db, businessId, id);
    if (run !== undefined) return { run, near: [] };
  }
  const [playbook = "", ...rest] = withoutBusiness.split("/");
  const runs = await workflowsOfPlaybook(db, businessId, playbook, RUNS_COMPARED);
  const newest = runs.find((each) => !isOverOffCycle(each)) ?? runs[0];
  if (newest !== undefined) {
    const period = rest.join("/");
    const run = period === "" ? newest : runs.find((each) => isOfPeriod(each, period));
    return run === undefined ? { near: runs.slice(0, NEAR_MOST) } : { run, near: [] };
  }
  const stored = await listPlaybooks(db, business);
  const like = suggest(
    playbook,
    stored.map(({ name }) => name),
  );
  return { near: like === undefined ? [] : await workflowsOfPlaybook(db, businessId, like, 3) };
}

/**
 * True for an off-cycle payment that is over: it must not hide the run that its playbook is for.
 */
function isOverOffCycle({ period, phase }: CalledWorkflow): boolean {
  return isOffCyclePeriod(period) && ENDED_PHASES.some((ended) => ended === phase);
}

/** True for each revision of a period, or for the one that is named; the newest comes first. */
function isOfPeriod(run: CalledWorkflow, text: string): boolean {
  return run.period === text || run.id.endsWith(`/${run.playbook}/${text}`);
}
