import { shortName } from "../../contracts/workflow-kinds.ts";
import type { RunStatus } from "../../api/runs.ts";
import type { AnyStatus } from "../../api/statuses.ts";
import { emptyPlanText, NOT_USED_UP } from "../../domain/planning/left-out.ts";
import { typeable } from "../terminal/typed.ts";
import { dim, fitting, green, printable, red, yellow } from "../terminal/text.ts";
import { ScheduleListBody } from "../../api/schedules.ts";
import { spokenDate } from "../../domain/clock/spoken.ts";
import { type GatewayClient, ofBusiness } from "../client/gateway-client.ts";
import { EXIT, type ExitCode } from "../terminal/cli-error.ts";
import { nextCommands } from "./plan.ts";
import { hasEnded } from "./run.ts";

/**
 * Describes the result of a launch. Only a run that failed at once is an error; a run with nothing
 * to pay has done its work.
 */
export function launchedLines(
  run: AnyStatus,
  { isNew, home }: { readonly isNew: boolean; readonly home: string },
): { readonly lines: readonly string[]; readonly exitCode: ExitCode } {
  const name = shortName(run.id);
  const id = `${run.id}${isNew ? "" : "  was launched already"}`;
  const done = (...lines: string[]) => ({ lines, exitCode: EXIT.done });
  const launched = `${green("✓")} ${id}`;
  if (run.kind !== "pay-run") return done(launched, dim(`payrun status ${name}`));
  const other = isNew ? [] : [dim("a period has one run: --period YYYY-MM-DD launches another")];
  const why = dim(`payrun show ${name} says why`);
  if (run.phase === "failed") {
    const failure = run.failure === undefined ? "" : `: ${printable(run.failure)}`;
    return { lines: [`${red("✗")} ${id}`, `It has failed${failure}`, why], exitCode: EXIT.failed };
  }
  if (run.phase === "completed" && (run.plan?.lineCount ?? 0) === 0) {
    const nothing = typeable(emptyPlanText(run.plan?.skippedByCode ?? {}));
    return done(`${yellow("–")} ${id}`, ...fitting([nothing]), dim(NOT_USED_UP), why);
  }
  if ("planOnly" in run) {
    return done(launched, dim(`it only plans, and nothing is sent: payrun show ${name}`));
  }
  if (!hasEnded(run)) return done(launched, nextCommands(run, home), ...other);
  return done(launched, dim(`${run.phase}: payrun show ${name} says why`), ...other);
}

/**
 * Notes that the schedule's next run will join this one: a person who launches by hand may have
 * meant a separate run. A schedule doesn't join a failed run, or one that had nothing to pay.
 */
export async function joinedBySchedule(
  gateway: Pick<GatewayClient, "get">,
  { playbook, period, business, phase, nothingToPay }: RunStatus,
): Promise<readonly string[]> {
  const path = ofBusiness(`/v1/schedules?playbook=${encodeURIComponent(playbook)}`, business);
  // The launch is done, even if its schedule can't be read.
  const found = await gateway.get(path, ScheduleListBody).catch(() => null);
  const [schedule] = found?.items ?? [];
  if (schedule?.state === "paused" || schedule?.deleted || phase === "failed") return [];
  if (schedule?.next[0]?.period !== period) return [];
  const does = nothingToPay === true ? "plans it again" : "joins this one";
  return [`The schedule's run of ${spokenDate(period)} ${does}.`];
}
