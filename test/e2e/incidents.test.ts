import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import { fundingIncidentId, retryFailedPaymentId } from "../../src/contracts/workflow-kinds.ts";
import { payrun as cli } from "../cli/cli.ts";
import { listNotices } from "../../src/store/notices/notices.ts";
import {
  applyIncidents,
  bouncedScene,
  type IncidentJson,
  incidents,
  settledAgain,
} from "../support/bounced.ts";
import { isLong } from "../support/long.ts";
import { commandsOf, wordsOf } from "../support/docs.ts";
import { keepHistory } from "../support/keep-history.ts";
import { payrunTest } from "../support/payrun-test.ts";
import type { TestPayrun } from "../support/payrun.ts";
import { expectBank, lineOf, paymentsOf, plannedScene, scenePlaybook } from "../support/scene.ts";
import { approve } from "../support/stack.ts";

const test = payrunTest({ janitorEveryMs: 1_000 });
test.beforeAll(({ payrun }) => applyIncidents(payrun));

function env(payrun: TestPayrun, person: "controller" | "admin"): Record<string, string> {
  return { PAYRUN_GATEWAY_URL: payrun.gatewayUrl, PAYRUN_TOKEN: payrun.tokenOf(person) };
}

/** Returns what Temporal's list shows of a workflow: whether a person must act. */
async function needsAction(payrun: TestPayrun, workflowId: string): Promise<unknown> {
  const { raw } = await payrun.temporal.workflow.getHandle(workflowId).describe();
  const { indexedFields } = raw.workflowExecutionInfo?.searchAttributes ?? {};
  const data = indexedFields?.["PayrunNeedsAction"]?.data;
  return data === undefined || data === null ? [] : [JSON.parse(Buffer.from(data).toString())];
}

describe("an account that bounces", () => {
  test("payments that bounce are one incident: after one decision, and not before, each is paid once", async ({
    payrun,
  }) => {
    const scene = await bouncedScene(payrun, "bounced", [110_00, 120_00, 130_00]);
    const { control } = payrun.sandbox;
    await control.advance("P5D");
    const [incident, ...others] = await incidents(payrun);
    expect(others).toEqual([]);
    expect(incident).toMatchObject({ phase: "open", bills: 3, decision: null });
    const source = incident?.source ?? "";
    for (const bill of scene.made) expect(await paymentsOf(payrun, bill)).toHaveLength(1);
    await expect
      .poll(() => needsAction(payrun, fundingIncidentId("default", source)))
      .toEqual([true]);
    const path = `/v1/incidents/${source}/decision`;
    const said = { decision: "released", reason: "the bank shows the money" };
    expect((await payrun.call("operator", "POST", path, said)).status).toBe(403);

    const commands = commandsOf("docs/retry-failed.md");
    expect(commands).toHaveLength(4);
    const cwd = fileURLToPath(new URL("../../", import.meta.url));
    for (const command of commands) {
      const args = wordsOf(command).map((word) => word.replace(/^balance$/, source));
      const person = args[0] === "apply" ? "admin" : "controller";
      const { code, stderr } = await cli(args, { cwd, env: env(payrun, person) });
      expect({ command, code, stderr }).toMatchObject({ code: 0 });
    }

    const done = await settledAgain(payrun, scene);
    expect(done.counts.settled).toBe(3);
    await expectBank(
      payrun,
      scene.made.map((bill) => [bill, bill.amountCents]),
    );
    const workflow = payrun.temporal.workflow.getHandle(fundingIncidentId("default", source));
    expect(await workflow.result()).toBe("released by controller");
    await keepHistory(payrun, workflow.workflowId, "funding-incident-released");
    const [bill] = scene.made;
    const retryId = retryFailedPaymentId("default", bill?.id ?? "");
    await keepHistory(payrun, retryId, "retry-waits-for-incident");
    expect((await payrun.call("controller", "POST", path, said)).status).toBe(409);
  });
});

describe("a balance that bounces, and a deposit into it", () => {
  const PAY =
    "{ on: next-business-day, from: balance, topUp: { by: [controller], atMost: $50k, arrivesAfter: 3 business days } }";

  async function ofBalance(payrun: TestPayrun): Promise<IncidentJson | undefined> {
    return (await incidents(payrun)).find(({ source }) => source === "balance");
  }

  test("a deposit after a bounce is made once on one decision, pays each bill once, and its return is reported", async ({
    payrun,
  }) => {
    const { control } = payrun.sandbox;
    const from = { pay: PAY };
    const later = await plannedScene(payrun, "meanwhile", [40_00], from);
    const scene = await bouncedScene(payrun, "deposited", [110_00, 120_00], from);
    await control.changeBusiness({ balanceCents: 50_00 });
    await approve(payrun, later.runId);
    await payrun.until(later.runId, "held", ({ counts }) => counts["on-hold"] === 1);
    await expect.poll(async () => (await ofBalance(payrun))?.topUps.length).toBe(1);
    const args = ["incident", "balance", "--top-up", "--reason", "pay them"];
    const { code, stdout, stderr } = await cli(args, { env: env(payrun, "controller") });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/Deposit of \$180\.00 from .*approved by controller/);
    await untilIncident(payrun, "on-its-way");
    await untilIncident(payrun, "completed");
    await expect.poll(async () => (await ofBalance(payrun))?.phase).toBe("ended");
    expect((await settledAgain(payrun, scene)).counts.settled).toBe(2);
    const workflow = payrun.temporal.workflow.getHandle(fundingIncidentId("default", "balance"));
    expect(await workflow.result()).toBe("released by controller");
    await keepHistory(payrun, workflow.workflowId, "funding-incident-tops-up");
    await control.changeBusiness({ balanceCents: 5_000_00 });
    await payrun.until(later.runId, "sent", ({ counts }) => counts.scheduled === 1);
    await control.advance("P8D");
    await payrun.untilPhase(later.runId, "completed");
    await expectBank(
      payrun,
      [...scene.made, ...later.made].map((bill) => [bill, bill.amountCents]),
    );
    const moved = async () =>
      (await control.ledger()).flatMap(({ kind, amountCents, transactionId }) =>
        transactionId === null ? [] : [`${kind} ${amountCents}`],
      );
    expect(await moved()).toEqual(["debit 18000", "credit 18000"]);

    const [deposit] = (await ofBalance(payrun))?.topUps ?? [];
    const match = { transactionId: deposit?.transactionId ?? "" };
    await control.outcome({ match, outcome: "return", code: "R10" });
    const isTold = async (): Promise<unknown[]> => {
      await control.advance("PT7H");
      return listNotices(payrun.store.db, { kind: "top-up-returned", limit: 5 });
    };
    await expect.poll(isTold, { interval: 1_000 }).toHaveLength(1);
    const { stdout: shown } = await cli(["status", workflow.workflowId], {
      env: env(payrun, "controller"),
    });
    expect(shown).toMatch(/Deposit of \$180\.00 from .*: returned.*R10/);
    expect(await ofBalance(payrun)).toMatchObject({
      phase: "ended",
      topUps: [{ state: "returned", reason: expect.stringMatching(/R10/) }],
    });
    expect((await moved()).slice(0, 3)).toEqual(["debit 18000", "credit 18000", "return 18000"]);
  });

  /** Advances the bank's clock by days until the incident's deposit is in this state. */
  async function untilIncident(payrun: TestPayrun, state: string): Promise<void> {
    const stateNow = async (): Promise<string | undefined> => {
      const now = (await ofBalance(payrun))?.topUps.at(-1)?.state;
      if (now !== state && now === "on-its-way") await payrun.sandbox.control.advance("P1D");
      return now;
    };
    await expect.poll(stateNow, { interval: 1_000 }).toBe(state);
  }
});

describe("a vendor's account that came back", () => {
  test.runIf(isLong)(
    "a returned bill whose account has changed is released only by the rule's roles, for a new approval",
    async ({ payrun }) => {
      const { control } = payrun.sandbox;
      const { runId, made } = await plannedScene(payrun, "vendor", [310_00]);
      const [bill] = made;
      const rule = { match: { payableId: bill?.id ?? "" }, outcome: "fail", code: "R03" } as const;
      await control.outcome(rule);
      await approve(payrun, runId);
      await payrun.until(runId, "scheduled", ({ counts }) => counts.scheduled === 1);
      await control.advance("P8D");
      const parked = await payrun.untilPhase(runId, "completed-with-exceptions");
      expect(lineOf(parked, bill)).toMatchObject({ state: "parked", reasonCode: "R03" });
      await control.changeContact(bill?.contactId ?? "", {
        bankAccount: { accountNumber: "00007777" },
      });
      const told = await payrun.until(runId, "told of the other account", (status) =>
        /••7777 now/.test(lineOf(status, bill).reason ?? ""),
      );
      expect(lineOf(told, bill).state).toBe("parked");
      const path = `/v1/payables/${bill?.id}/resolution`;
      const asked = { action: "retry", reason: "called the vendor" };
      expect((await payrun.call("operator", "POST", path, asked)).status).toBe(403);
      expect((await payrun.call("controller", "POST", path, asked)).status).toBe(200);
      const left = await payrun.until(runId, "left to the next run", (status) =>
        /ends its approval/.test(lineOf(status, bill).reason ?? ""),
      );
      expect(lineOf(left, bill)).toMatchObject({ state: "parked", reasonCode: "R03" });
      expect(await paymentsOf(payrun, bill)).toHaveLength(1);
      await expectBank(payrun, [[bill, 0]]);
      const holds = await payrun.call<{ items: unknown[] }>("operator", "GET", "/v1/holds");
      expect(holds.body.items).toEqual([]);
      const retryId = retryFailedPaymentId("default", bill?.id ?? "");
      await keepHistory(payrun, retryId, "retry-left-to-next-run");
    },
  );
});

test("a pay run can't name a failure playbook that is not stored", async ({ payrun }) => {
  const text = scenePlaybook("careless", { more: ["onFailure: nobody-knows-it"] });
  const body = { name: "careless", text };
  const refused = await payrun.call("admin", "POST", "/v1/playbooks", body);
  expect(refused.status).toBe(422);
  expect(refused.body).toMatchObject({ error: "unknown_failure_playbook" });
});
