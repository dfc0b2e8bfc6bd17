import type { RunStatus } from "../../api/runs.ts";
import { CliError, EXIT } from "../terminal/cli-error.ts";
import { sendPlaybook, readPlaybook } from "../commands/playbook-files.ts";
import { PlanDigest, skippedCounts } from "../show/plan.ts";
import { hasEnded } from "../show/run.ts";
import { dim, fitted } from "../terminal/text.ts";
import { ownFile } from "../terminal/own-files.ts";
import { pollRun } from "../show/wait-for-run.ts";
import { type Demo, runIdOf } from "./context.ts";
import { RunStatusBody } from "../../api/runs.ts";

/** The playbooks that the run needs besides its own: one retries failures, one holds bills back. */
const OTHERS = ["retry-failed", "hold-flagged-bills"] as const;
const PLAN_LIMIT_MS = 60_000;

/** Launches the weekly playbook, once, and shows the plan. */
export async function launchAndPlan(demo: Demo): Promise<RunStatus> {
  const { narrator, gateway, people, service } = demo;
  narrator.heading("Plan");
  if (demo.state.runId === undefined) {
    const before = await service.payments.listAll({});
    demo.remember({ paymentsBefore: before.map(({ id }) => id) });
    for (const other of OTHERS) await sendPlaybook(gateway, await readPlaybook(fileOf(other)));
    const { name } = await sendPlaybook(gateway, await readPlaybook(fileOf("weekly-vendors")));
    const launched = await gateway
      .as(people.token("launcher"))
      .post("/v1/runs", RunStatusBody, { playbook: name });
    demo.remember({ runId: launched.id });
  }
  const run = await pollRun(gateway, runIdOf(demo), {
    until: (now) => now.planHash !== null || hasEnded(now),
    limitMs: PLAN_LIMIT_MS,
  });
  if (run.plan === undefined) {
    throw new CliError(EXIT.failed, `the run has no plan (${run.phase})`, {
      code: "no_plan",
      hint: `Look at ${demo.addresses.temporalUi ?? "Temporal"}.`,
    });
  }
  narrator.line(dim(`playbooks/weekly-vendors.yaml → ${run.id}`));
  const digest = new PlanDigest().add(run.payments);
  narrator.lines(digest.totals(run.plan));
  narrator.lines(digest.oddLines().map((line) => fitted(line)));
  for (const counts of skippedCounts(run.plan)) narrator.text(counts);
  return run;
}

function fileOf(playbook: string): string {
  return ownFile(`playbooks/${playbook}.yaml`);
}
