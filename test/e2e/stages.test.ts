import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { listNotices } from "../../src/store/notices/notices.ts";
import { createToken } from "../../src/store/approvals/tokens.ts";
import { isLong } from "../support/long.ts";
import { bills } from "../support/bills.ts";
import { keepHistory } from "../support/keep-history.ts";
import type { TestPayrun } from "../support/payrun.ts";
import { clockNoticed, ended, expectBank, lineOf, paymentsOf, standing } from "../support/scene.ts";
import { payrun as cli } from "../cli/cli.ts";
import { stacks } from "../support/stack.ts";

const start = stacks();
const EXAMPLE = new URL("../../playbooks/large-bills-in-stages.yaml", import.meta.url);

async function approveAs(payrun: TestPayrun, runId: string, name: string, role: string) {
  const who = { name, roles: [role], createdBy: "setup", nowMs: Date.now() - 60_000 };
  const { token } = await createToken(payrun.store, who);
  const { planHash } = await payrun.status(runId);
  const url = `${payrun.gatewayUrl}/v1/runs/${encodeURIComponent(runId)}/decisions`;
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ decision: "approve", planHash }),
  });
  return { status: response.status, body: (await response.json()) as { tooEarly?: string[] } };
}

test.runIf(isLong)(
  "the example playbook pays large bills after both stages, with reminders and an escalation",
  async () => {
    const payrun = await start();
    const { control } = payrun.sandbox;
    const made = await bills(payrun.sandbox, [30_000_00, 100_00]);
    const [large, small] = made;
    await payrun.apply("large-bills-in-stages", await readFile(EXAMPLE, "utf8"));
    const runId = await payrun.launch("large-bills-in-stages");
    const first = await payrun.untilPhase(runId, "awaiting-approval");
    expect(first.waitingFor).toContain("controller (stage 1 of 2)");
    const told = async (kind: string): Promise<(readonly string[])[]> =>
      (await listNotices(payrun.store.db, { runId, kind, limit: 10 })).map(({ roles }) => roles);

    const env = {
      env: { PAYRUN_GATEWAY_URL: payrun.gatewayUrl, PAYRUN_TOKEN: payrun.tokenOf("launcher") },
    };
    const asked = await cli(["status", runId], env);
    expect(asked.stdout).toMatch(/stage 1 of 2: controller for 1 bill.* · cfo from \w{3}, /);

    // An owner before their turn: the small bill counts already, the large one not yet.
    const early = await approveAs(payrun, runId, "olga", "owner");
    expect([early.status, early.body.tooEarly]).toEqual([200, [large?.id]]);
    await payrun.until(runId, "small one paid", ({ counts }) => counts.scheduled === 1);

    await control.advance("P1D");
    await expect.poll(() => told("approval-reminder")).toEqual([["controller"]]);
    await control.advance("P4D");
    const escalated = await payrun.until(runId, "escalated", ({ approvals }) =>
      (approvals ?? []).some((waiting) => waiting.escalated),
    );
    expect(escalated.approvals).toMatchObject([
      { stage: 1, stages: 2, by: ["controller", "cfo"], quorum: 1, lines: 1, escalatesTo: ["cfo"] },
    ]);
    expect(await told("approval-escalated")).toEqual([["cfo"]]);
    const shown = await cli(["status", runId], env);
    expect(shown.stdout).toContain(
      "Approval, stage 1 of 2: controller or cfo for 1 bill, $30,000.00 · asked ",
    );
    expect(shown.stdout).toMatch(/ · escalated to cfo\n/);

    expect((await approveAs(payrun, runId, "fay", "cfo")).status).toBe(200);
    await payrun.until(
      runId,
      "second stage",
      ({ approvals }) => approvals?.[0]?.stage === 2 && !approvals[0].escalated,
    );
    expect((await approveAs(payrun, runId, "olga", "owner")).status).toBe(200);
    const half = await payrun.status(runId);
    expect(lineOf(half, large).stages).toEqual([
      { by: ["controller"], quorum: 1, approvedBy: ["fay"], escalatedTo: ["fay"] },
      { by: ["owner"], quorum: 2, approvedBy: ["olga"], escalatedTo: [] },
    ]);
    expect(await paymentsOf(payrun, large)).toEqual([]);
    expect((await approveAs(payrun, runId, "otto", "owner")).status).toBe(200);
    await clockNoticed();
    const done = await ended(payrun, runId);
    expect(standing(done)).toEqual({ settled: 2 });
    await expectBank(payrun, [
      [large, 30_000_00],
      [small, 100_00],
    ]);
    const explained = await cli(["explain", large?.id ?? ""], env);
    expect(explained.stdout).toContain("needs controller, then 2 people of owner");
    expect(explained.stdout).toMatch(/fay \(cfo\), after it was escalated/);
    expect(explained.stdout).toMatch(/otto \(owner\), in stage 2/);
    await keepHistory(payrun, runId, "pay-run-approved-in-stages");
  },
);
