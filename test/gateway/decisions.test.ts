import { describe, expect } from "vitest";
import { DecisionBody } from "../../src/api/schemas.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { spokenDate } from "../../src/domain/clock/spoken.ts";
import { RunStatusBody } from "../../src/api/runs.ts";
import { decisionsOfRun } from "../../src/store/approvals/decisions.ts";
import { listAudit } from "../../src/store/audit/audit.ts";
import { approversOf } from "../support/approvers-of.ts";
import { getPlan } from "../../src/store/plans/plans.ts";
import { hashOfLine } from "../../src/domain/planning/line-hash.ts";
import { storeReplannedLines } from "../../src/store/plans/replan-writes.ts";
import { setRunPhase } from "../../src/store/runs/runs.ts";
import { noticeLoss } from "../support/lost-store.ts";
import { sendOnce } from "../support/sends.ts";
import { test } from "./support/deciding.ts";
import { lineState, planLine, seedRun } from "./support/rows.ts";

describe("an approval", () => {
  test("an approval of more than a thousand bills names a thousand of them and counts them all", async ({
    scene,
  }) => {
    const lines = Array.from({ length: 1_003 }, (_, index) => planLine(`many_${index}`));
    const many = await seedRun(scene.gateway.store, { period: "2026-08-06", lines });
    const token = await scene.gateway.token("cora", ["controller"]);
    const path = `/v1/runs/${encodeURIComponent(many.runId)}/decisions`;
    const approve = { decision: "approve", planHash: many.planHash };
    const answer = await scene.gateway.call("POST", path, token, approve);
    const body = DecisionBody.parse(answer.json);
    expect(body.countsForCount).toBe(1_003);
    expect(body.countsFor).toHaveLength(1_000);
    expect(body.missing).toEqual([]);
  });

  test("an approval counts for lines whose rule names its role, and says what is missing", async ({
    scene,
  }) => {
    const answer = await scene.decide(await scene.gateway.token("cora", ["controller"]));
    expect(answer.status).toBe(200);
    const body = DecisionBody.parse(answer.json);
    expect(body.countsFor).toEqual(["p1", "p2", "p_odd"]);
    expect(body.missing).toEqual([
      { by: ["owner"], quorum: 1, approvals: 0, lines: 1, totalCents: 2_000_000 },
      { by: ["controller", "owner"], quorum: 2, approvals: 1, lines: 1, totalCents: 10_000 },
    ]);
    expect(await scene.approved("p1")).toBe(true);
    expect(await scene.approved("p_large")).toBe(false);
    expect(await scene.approved("p_odd")).toBe(false);
  });

  test("a second person completes a quorum; a second token of the same person does not", async ({
    scene,
  }) => {
    await scene.decide(await scene.gateway.token("cora", ["controller"]));
    await scene.decide(await scene.gateway.token(" Cora ", ["owner"]));
    expect(await scene.approved("p_odd")).toBe(false);
    const answer = await scene.decide(await scene.gateway.token("otto", ["owner"]));
    expect(answer.json["missing"]).toEqual([]);
    expect(await scene.approved("p_odd")).toBe(true);
    expect(await scene.approved("p_large")).toBe(true);
  });

  test("an approval leaves out exactly the dropped lines", async ({ scene }) => {
    const answer = await scene.decide(await scene.gateway.token("cora", ["controller"]), {
      drop: ["p2"],
    });
    expect(answer.json["countsFor"]).toEqual(["p1", "p_odd"]);
    expect(answer.json["dropped"]).toEqual(["p2"]);
    expect(await lineState(scene.gateway.store, scene.run.runId, "p2")).toBe("cancelled");
    expect(await lineState(scene.gateway.store, scene.run.runId, "p1")).toBe("awaiting-approval");
    expect(await scene.approved("p2")).toBe(false);
    const businessId = "biz_acme";
    const trail = await listAudit(scene.gateway.store.db, { businessId, subject: "p2" });
    expect(trail).toMatchObject([
      { action: "line:cancelled", actor: "cora", details: { reasonCode: "dropped" } },
    ]);
  });

  test("an approval given twice counts once", async ({ scene }) => {
    const token = await scene.gateway.token("cora", ["controller"]);
    const first = await scene.decide(token, { drop: ["p2"] });
    const second = await scene.decide(token, { drop: ["p2"] });
    expect(second.status).toBe(200);
    expect((second.json["countsFor"] as string[]).toSorted()).toEqual(
      (first.json["countsFor"] as string[]).toSorted(),
    );
    expect(second.json["dropped"]).toEqual(["p2"]);
    expect([first.json["alreadySince"], second.json]).toMatchObject([
      undefined,
      {
        alreadySince: expect.stringMatching(/^2\d{3}-/),
        summary: expect.stringMatching(
          /^You had approved this already, on \w+, .* New York: nothing is new\. 1 bill, .* 1 needs /,
        ),
      },
    ]);
    expect(await scene.outcomes()).toEqual(["cora accepted"]);
  });

  test("an approval of bills whose day has passed says their new day, and whether it is asked about again", async ({
    scene,
  }) => {
    const lines = [planLine("gone", { executionDate: "2026-08-03" }), planLine("later")];
    const told = async (late: "ask" | "next-business-day") => {
      const period = late === "ask" ? "2026-08-07" : "2026-08-08";
      scene.run = await seedRun(scene.gateway.store, {
        ...{ period, late },
        lines: lines.map((line) => ({ ...line, payableId: `${line.payableId}-${late}` })),
      });
      const cora = await scene.gateway.token(`cora-${late}`, ["controller"]);
      const { json } = await scene.gateway.call("GET", scene.path("review"), cora);
      return [(json["yours"] as { summary: string }).summary, (await scene.decide(cora)).json];
    };
    const [before, asks] = await told("ask");
    const day = DecisionBody.parse(asks).newDates?.executionDate ?? "";
    expect(day > newYorkDate(Date.now())).toBe(true);
    const moved = { count: 1, cents: 10_000, executionDate: day };
    expect([before, asks]).toMatchObject([
      expect.stringContaining(
        `only moves 1 bill, $100.00, to ${spokenDate(day)}, because its day has`,
      ),
      {
        goesOut: { count: 1 },
        newDates: { ...moved, asksAgain: true },
        summary: expect.stringContaining(`moves to ${spokenDate(day)}`),
      },
    ]);
    expect(await told("next-business-day")).toMatchObject([
      expect.stringContaining(`go out (1 of them on ${spokenDate(day)}: its day has passed)`),
      { goesOut: { count: 2 }, newDates: { ...moved, asksAgain: false } },
    ]);
  });

  test("an approval in a restored store says when its bills go out, before and after it", async ({
    scene,
  }) => {
    const { db } = scene.gateway.store;
    await noticeLoss(scene.gateway.store);
    const lifted = { released_at_ms: Date.now(), released_by: "oli" };
    await db.updateTable("holds").set(lifted).execute();
    const token = await scene.gateway.token("cora", ["controller"]);
    const { yours } = (await scene.gateway.call("GET", scene.path("review"), token)).json;
    const { json } = await scene.decide(token);
    expect(json).toMatchObject({ sends: { notBefore: expect.any(String), restored: true } });
    // A plan made from now on knows what was paid.
    const later = { planned_at_ms: Date.now() + 60_000 };
    await db.updateTable("runs").set(later).execute();
    const again = (await scene.gateway.call("GET", scene.path("review"), token)).json;
    expect(again["yours"]).not.toHaveProperty("sends.restored");
    expect([yours, json]).toMatchObject([
      { summary: expect.stringMatching(/ lets 2 bills, .* go out after .* New York.*restored/) },
      { summary: expect.stringMatching(/^2 bills, .* go out after .* New York.*restored/) },
    ]);
  });

  test("an approval that drops a bill which a request may still pay is refused and says so", async ({
    scene,
  }) => {
    const token = await scene.gateway.token("cora", ["controller"]);
    const businessId = "biz_acme";
    await sendOnce(scene.gateway.store, { businessId, subject: "p2", owner: scene.run.runId });
    const answer = await scene.decide(token, { drop: ["p2"] });
    expect(answer.status).toBe(409);
    expect(answer.json["error"]).toBe("may_be_paid");
    expect(answer.json["message"]).toContain("p2");
    expect(await scene.approved("p1")).toBe(false);
    const refused = { result: "refused", status: 429 } as const;
    await sendOnce(
      scene.gateway.store,
      { businessId, subject: "p1", owner: scene.run.runId },
      refused,
    );
    expect((await scene.decide(token, { drop: ["p1"] })).json["dropped"]).toEqual(["p1"]);
    expect(await lineState(scene.gateway.store, scene.run.runId, "p1")).toBe("cancelled");
  });

  test("an approval repeated after its bills were paid is still accepted", async ({ scene }) => {
    const token = await scene.gateway.token("otto", ["owner"]);
    await scene.decide(token);
    await setRunPhase(scene.gateway.store.db, scene.run.runId, {
      phase: "completed",
      endedAtMs: Date.now(),
    });
    expect((await scene.decide(token)).status).toBe(200);
    const other = await scene.decide(await scene.gateway.token("cora", ["controller"]));
    expect(other.status).toBe(409);
    expect(other.json["error"]).toBe("run_ended");
  });

  test("an approval repeated after lines were planned again is still accepted, and says what is missing", async ({
    scene,
  }) => {
    const token = await scene.gateway.token("otto", ["owner"]);
    await scene.decide(token);
    const changed = planLine("p1", { version: 2, dateRule: "another day" });
    const anew = { ...changed, lineHash: hashOfLine("biz_acme", changed) };
    await scene.gateway.store.transaction((trx) =>
      storeReplannedLines(trx, {
        runId: scene.run.runId,
        lines: [{ plan: anew, reason: "its execution date has passed" }],
        nowMs: Date.now(),
      }),
    );
    const again = await scene.decide(token);
    expect(again.status).toBe(200);
    expect(again.json["missing"]).toMatchObject([{ lines: 1 }, { quorum: 2, lines: 1 }]);
    expect(await scene.approved("p2")).toBe(true);
    const cora = await scene.gateway.token("cora", ["controller"]);
    expect((await scene.decide(cora)).json["error"]).toBe("stale_plan");
    const { planHash } = (await getPlan(scene.gateway.store.db, scene.run.runId)) ?? {};
    expect((await scene.decide(cora, { planHash })).json["missing"]).toEqual([]);
  });

  test("a run's status shows who approved each line", async ({ scene }) => {
    const token = await scene.gateway.token("cora", ["controller"]);
    await scene.decide(token);
    const path = `/v1/runs/${encodeURIComponent(scene.run.runId)}?skipped=false`;
    const status = await scene.gateway.call("GET", path, token);
    const body = RunStatusBody.parse(status.json);
    const by = body.payments.map((payment) => [payment.payableId, payment.approvedBy]);
    expect(by).toEqual([
      ["p1", ["cora"]],
      ["p2", ["cora"]],
      ["p_large", []],
      ["p_odd", ["cora"]],
    ]);
  });

  test("an approval is recorded in the audit trail", async ({ scene }) => {
    await scene.decide(await scene.gateway.token("cora", ["controller"]), {
      comment: "looks right",
    });
    const trail = await listAudit(scene.gateway.store.db, {
      businessId: "biz_acme",
      subject: scene.run.runId,
    });
    expect(trail.map((entry) => [entry.actor, entry.action])).toContainEqual([
      "cora",
      "run.approved",
    ]);
  });
});

describe("a rejection", () => {
  test("a rejection is stored for the run to read", async ({ scene }) => {
    const answer = await scene.decide(await scene.gateway.token("cora", ["controller"]), {
      decision: "reject",
      comment: "not this week",
    });
    expect(answer.status).toBe(200);
    const [decision] = await decisionsOfRun(scene.gateway.store.db, scene.run.runId);
    expect(decision).toMatchObject({
      decision: "reject",
      outcome: "accepted",
      comment: "not this week",
    });
    expect(await scene.approved("p1")).toBe(false);
  });
});

test("two people who approve at the same moment both count", async ({ scene }) => {
  const tokens = await Promise.all(
    ["otto", "olga", "cora"].map((name) => scene.gateway.token(name, ["owner"])),
  );
  const answers = await Promise.all(tokens.map((token) => scene.decide(token)));
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200]);
  const approvers = await approversOf(
    scene.gateway.store.db,
    scene.run.runId,
    ["p_odd"],
    Date.now(),
  );
  expect(approvers.get("p_odd")).toEqual(["cora", "olga", "otto"]);
});
