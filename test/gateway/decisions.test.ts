import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LineFlag } from "../../src/contracts/pay-run.ts";
import { createBusinessClocks } from "../../src/actions/clocks.ts";
import { DecisionBody } from "../../src/api/schemas.ts";
import { RunStatusBody } from "../../src/api/runs.ts";
import { decisionsOfRun } from "../../src/store/approvals/decisions.ts";
import { listAudit } from "../../src/store/audit/audit.ts";
import { approversOf, lineApproved } from "../../src/store/approvals/line-approvals.ts";
import { getPlan, type StoredPlan } from "../../src/store/plans/plans.ts";
import { storeReplannedLines } from "../../src/store/plans/replan-writes.ts";
import { getRun, requestCancel, setRunPhase } from "../../src/store/runs/runs.ts";
import { createToken } from "../../src/store/approvals/tokens.ts";
import { askingHowVerified } from "../../src/decisions/deciding.ts";
import { takeAnyDecision } from "../../src/decisions/take-top-up.ts";
import { sendOnce } from "../support/sends.ts";
import { profile, startTestGateway, type Answer, type TestGateway } from "./support/gateway.ts";
import { lineState, planLine, seedRun, setLine, type SeededRun } from "./support/rows.ts";

let gateway: TestGateway;
let run: SeededRun;

const LARGE = { amountCents: 2_000_000, approvers: ["owner"], ruleIndex: 0 };
const TWO_EYES = { quorum: 2 };

beforeEach(async () => {
  gateway = await startTestGateway();
  run = await seedRun(gateway.store, {
    launchedBy: "lou",
    author: "ada",
    lines: [
      planLine("p1"),
      planLine("p2"),
      planLine("p_large", LARGE),
      planLine("p_odd", TWO_EYES),
    ],
  });
});
afterEach(async () => gateway.stop());

const NEW_ACCOUNT: LineFlag = {
  kind: "changed-bank-account",
  text: "The vendor's bank account ends in 4417 now.",
};

describe("a vendor's changed bank account", () => {
  let carla: string;

  beforeEach(async () => {
    run = await seedRun(gateway.store, {
      ...{ launchedBy: "lou", author: "ada", period: "2026-11-27" },
      lines: [planLine("q1"), planLine("q2", { flags: [NEW_ACCOUNT], contactId: "con_new" })],
    });
    carla = await gateway.token("carla", ["controller"]);
  });

  const verified = { contactId: "con_new", person: "Ann Lee", phone: "+1 212 555 0100" };

  test("is approved by whoever says whom they called about it, on which number", async () => {
    const silent = await decide(carla);
    expect(silent.status).toBe(422);
    expect(silent.json).toMatchObject({ error: "bank_change_unverified" });
    expect(silent.text).toContain("Vendor of q2");
    const other = await decide(carla, {
      verifiedBankChanges: [{ ...verified, contactId: "con_q1" }],
    });
    expect(other.status).toBe(422);
    for (const half of [{ person: " " }, { phone: "" }]) {
      const answer = await decide(carla, { verifiedBankChanges: [{ ...verified, ...half }] });
      expect(answer.status).toBe(400);
    }
    expect(await outcomes()).toEqual([]);
    const done = await decide(carla, { verifiedBankChanges: [verified] });
    expect(done.status).toBe(200);
    expect(done.json["countsFor"]).toEqual(["q1", "q2"]);
    const again = await decide(carla, { verifiedBankChanges: [verified] });
    expect(again.status).toBe(200);
  });

  test("is asked about in a sandbox, where an approval counts without an answer", async () => {
    const known = await createBusinessClocks().read(profile());
    const change = { contactId: "con_new", contactName: "Vendor", text: "It has changed." };
    const refusalOf = (sandbox: boolean, said?: { person: string; phone: string }) => {
      const request = {
        ...({ decision: "approve", planHash: run.planHash, drop: [] } as const),
        verifiedBankChanges: said === undefined ? [] : [{ ...verified, ...said }],
      };
      const counted = { accepted: true, countsFor: [], dropped: [] } as const;
      const answer = askingHowVerified({ request, clock: { ...known, sandbox } }, counted, [
        change,
      ]);
      return answer.accepted ? null : answer.code;
    };
    expect([refusalOf(true), refusalOf(false)]).toEqual([null, "bank-change-unverified"]);
    expect(refusalOf(true, { person: "y", phone: "y" })).toBe("bank-change-unverified");
  });

  test("is not approved by an answer that names nobody, or no number that can be called", async () => {
    for (const said of [
      { person: "y" },
      { person: "Yes." },
      { phone: "y" },
      { phone: "0000000" },
    ]) {
      const answer = await decide(carla, { verifiedBankChanges: [{ ...verified, ...said }] });
      expect([answer.status, answer.json]).toMatchObject([
        422,
        {
          error: "bank_change_unverified",
          message: expect.stringMatching(/Vendor of q2 tells of no call\. Say the /),
        },
      ]);
    }
    expect(await outcomes()).toEqual([]);
  });

  test("asks nobody who leaves its bill out, or rejects", async () => {
    expect((await decide(carla, { drop: ["q2"] })).status).toBe(200);
    const otto = await gateway.token("otto", ["owner"]);
    expect((await decide(otto, { decision: "reject" })).status).toBe(200);
  });
});

function path(what = "decisions"): string {
  return `/v1/runs/${encodeURIComponent(run.runId)}/${what}`;
}

async function decide(token: string, changes: Record<string, unknown> = {}): Promise<Answer> {
  const body = { decision: "approve", planHash: run.planHash, ...changes };
  return gateway.call("POST", path(), token, body);
}

async function approved(payableId: string): Promise<boolean> {
  const { runId } = run;
  const line = { runId, payableId, lineHash: `hash-of-${payableId}` };
  return lineApproved(gateway.store.db, line, Date.now());
}

async function planOf(runId: string): Promise<StoredPlan> {
  const plan = await getPlan(gateway.store.db, runId);
  if (plan === undefined) throw new Error(`${runId} has no plan`);
  return plan;
}

async function outcomes(): Promise<string[]> {
  const decisions = await decisionsOfRun(gateway.store.db, run.runId);
  return decisions.map((decision) => `${decision.principal} ${decision.outcome}`);
}

test("whoever has no role of the playbook, and who may not approve, is refused before a line is read", async () => {
  const drop = ["no-line-of-it"];
  const refusal = async (name: string, role: string) =>
    (await decide(await gateway.token(name, [role]), { drop })).json["error"];
  expect(await refusal("vic", "viewer")).toBe("role_missing");
  expect(await refusal("lou", "controller")).toBe("launcher");
  expect(await refusal("cora", "controller")).toBe("unknown_payable");
});

describe("an approval", () => {
  test("of a thousand bills and more names a thousand of them and counts them all", async () => {
    const lines = Array.from({ length: 1_003 }, (_, index) => planLine(`many_${index}`));
    const many = await seedRun(gateway.store, { period: "2026-08-06", lines });
    const token = await gateway.token("cora", ["controller"]);
    const path = `/v1/runs/${encodeURIComponent(many.runId)}/decisions`;
    const approve = { decision: "approve", planHash: many.planHash };
    const answer = await gateway.call("POST", path, token, approve);
    const body = DecisionBody.parse(answer.json);
    expect(body.countsForCount).toBe(1_003);
    expect(body.countsFor).toHaveLength(1_000);
    expect(body.missing).toEqual([]);
  });

  test("counts for the lines whose rule names the approver's role, and says what is missing", async () => {
    const answer = await decide(await gateway.token("cora", ["controller"]));
    expect(answer.status).toBe(200);
    const body = DecisionBody.parse(answer.json);
    expect(body.countsFor).toEqual(["p1", "p2", "p_odd"]);
    expect(body.missing).toEqual([
      { by: ["owner"], quorum: 1, approvals: 0, lines: 1, totalCents: 2_000_000 },
      { by: ["controller", "owner"], quorum: 2, approvals: 1, lines: 1, totalCents: 10_000 },
    ]);
    expect(await approved("p1")).toBe(true);
    expect(await approved("p_large")).toBe(false);
    expect(await approved("p_odd")).toBe(false);
  });

  test("of a second person completes a quorum; of a second token of the first does not", async () => {
    await decide(await gateway.token("cora", ["controller"]));
    await decide(await gateway.token(" Cora ", ["owner"]));
    expect(await approved("p_odd")).toBe(false);
    const answer = await decide(await gateway.token("otto", ["owner"]));
    expect(answer.json["missing"]).toEqual([]);
    expect(await approved("p_odd")).toBe(true);
    expect(await approved("p_large")).toBe(true);
  });

  test("leaves lines out, and these only", async () => {
    const answer = await decide(await gateway.token("cora", ["controller"]), { drop: ["p2"] });
    expect(answer.json["countsFor"]).toEqual(["p1", "p_odd"]);
    expect(answer.json["dropped"]).toEqual(["p2"]);
    expect(await lineState(gateway.store, run.runId, "p2")).toBe("cancelled");
    expect(await lineState(gateway.store, run.runId, "p1")).toBe("awaiting-approval");
    expect(await approved("p2")).toBe(false);
    const businessId = "biz_acme";
    const trail = await listAudit(gateway.store.db, { businessId, subject: "p2" });
    expect(trail).toMatchObject([
      { action: "line:cancelled", actor: "cora", details: { reasonCode: "dropped" } },
    ]);
  });

  test("given twice is one approval", async () => {
    const token = await gateway.token("cora", ["controller"]);
    const first = await decide(token, { drop: ["p2"] });
    const second = await decide(token, { drop: ["p2"] });
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
    expect(await outcomes()).toEqual(["cora accepted"]);
  });

  test("of bills whose day has passed tells their new day, and whether that is asked about again", async () => {
    const lines = [planLine("gone", { executionDate: "2026-10-12" }), planLine("later")];
    const told = async (late: "ask" | "next-business-day") => {
      const period = late === "ask" ? "2026-08-07" : "2026-08-08";
      run = await seedRun(gateway.store, {
        ...{ period, late },
        lines: lines.map((line) => ({ ...line, payableId: `${line.payableId}-${late}` })),
      });
      const cora = await gateway.token(`cora-${late}`, ["controller"]);
      const { json } = await gateway.call("GET", `${path().replace("decisions", "review")}`, cora);
      return [(json["yours"] as { summary: string }).summary, (await decide(cora)).json];
    };
    const moved = { count: 1, cents: 10_000, executionDate: "2026-10-15" };
    expect(await told("ask")).toMatchObject([
      expect.stringContaining("only moves 1 bill, $100.00, to 2026-10-15, because its day has"),
      {
        goesOut: { count: 1 },
        newDates: { ...moved, asksAgain: true },
        summary: expect.stringContaining("moves to 2026-10-15"),
      },
    ]);
    expect(await told("next-business-day")).toMatchObject([
      expect.stringContaining("go out (1 of them on 2026-10-15: their day has passed)"),
      { goesOut: { count: 2 }, newDates: { ...moved, asksAgain: false } },
    ]);
  });

  test("that leaves out a bill which a request may still pay is refused, and says so", async () => {
    const token = await gateway.token("cora", ["controller"]);
    const businessId = "biz_acme";
    await sendOnce(gateway.store, { businessId, subject: "p2", owner: run.runId });
    const answer = await decide(token, { drop: ["p2"] });
    expect(answer.status).toBe(409);
    expect(answer.json["error"]).toBe("may_be_paid");
    expect(answer.json["message"]).toContain("p2");
    expect(await approved("p1")).toBe(false);
    const refused = { result: "refused", status: 429 } as const;
    await sendOnce(gateway.store, { businessId, subject: "p1", owner: run.runId }, refused);
    expect((await decide(token, { drop: ["p1"] })).json["dropped"]).toEqual(["p1"]);
    expect(await lineState(gateway.store, run.runId, "p1")).toBe("cancelled");
  });

  test("given again after its bills were paid is still the approval that was taken", async () => {
    const token = await gateway.token("otto", ["owner"]);
    await decide(token);
    await setRunPhase(gateway.store.db, run.runId, { phase: "completed", endedAtMs: Date.now() });
    expect((await decide(token)).status).toBe(200);
    const other = await decide(await gateway.token("cora", ["controller"]));
    expect(other.status).toBe(409);
    expect(other.json["error"]).toBe("run_ended");
  });

  test("given again after bills were planned anew is still taken, and says what is missing", async () => {
    const token = await gateway.token("otto", ["owner"]);
    await decide(token);
    const anew = { ...planLine("p1"), version: 2, lineHash: "hash-of-p1-later" };
    await gateway.store.transaction((trx) =>
      storeReplannedLines(trx, {
        runId: run.runId,
        lines: [{ plan: anew, reason: "its execution date has passed" }],
        nowMs: Date.now(),
      }),
    );
    const again = await decide(token);
    expect(again.status).toBe(200);
    expect(again.json["missing"]).toMatchObject([{ lines: 1 }, { quorum: 2, lines: 1 }]);
    expect(await approved("p2")).toBe(true);
    const cora = await gateway.token("cora", ["controller"]);
    expect((await decide(cora)).json["error"]).toBe("stale_plan");
    const { planHash } = await planOf(run.runId);
    expect((await decide(cora, { planHash })).json["missing"]).toEqual([]);
  });

  test("shows in the run's status", async () => {
    const token = await gateway.token("cora", ["controller"]);
    await decide(token);
    const path = `/v1/runs/${encodeURIComponent(run.runId)}?skipped=false`;
    const status = await gateway.call("GET", path, token);
    const body = RunStatusBody.parse(status.json);
    const by = body.payments.map((payment) => [payment.payableId, payment.approvedBy]);
    expect(by).toEqual([
      ["p1", ["cora"]],
      ["p2", ["cora"]],
      ["p_large", []],
      ["p_odd", ["cora"]],
    ]);
  });

  test("is in the audit trail, with what it counted for", async () => {
    await decide(await gateway.token("cora", ["controller"]), { comment: "looks right" });
    const trail = await listAudit(gateway.store.db, { businessId: "biz_acme", subject: run.runId });
    expect(trail.map((entry) => [entry.actor, entry.action])).toContainEqual([
      "cora",
      "run.approved",
    ]);
  });
});

describe("a rejection", () => {
  test("is stored for the run to hear", async () => {
    const answer = await decide(await gateway.token("cora", ["controller"]), {
      decision: "reject",
      comment: "not this week",
    });
    expect(answer.status).toBe(200);
    const [decision] = await decisionsOfRun(gateway.store.db, run.runId);
    expect(decision).toMatchObject({
      decision: "reject",
      outcome: "accepted",
      comment: "not this week",
    });
    expect(await approved("p1")).toBe(false);
  });
});

describe("a decision is refused, stands in the trail and counts for nothing", () => {
  test.each([
    ["of the launcher", "Lou", ["controller", "launcher"], "launcher"],
    ["of who has changed the playbook", "ada", ["owner"], "playbook_author"],
    ["of an administrator who is no approver", "root", ["admin"], "role_missing"],
  ])("%s", async (_what, name, roles, code) => {
    const answer = await decide(await gateway.token(name, roles));
    expect(answer.status).toBe(403);
    expect(answer.json["error"]).toBe(code);
    expect(answer.json["message"]).toMatch(/^[A-Z].*\.$/s);
    expect(await outcomes()).toEqual([]);
    for (const id of ["p1", "p2", "p_large", "p_odd"]) expect(await approved(id)).toBe(false);
    const trail = await listAudit(gateway.store.db, { businessId: "biz_acme", subject: run.runId });
    expect(trail.at(-1)?.action).toBe("run.decision-refused");
  });

  test("of a token that the launcher made since, or one of the launcher's, where nobody confirms tokens", async () => {
    const { store } = gateway;
    const known = await getRun(store.db, run.runId);
    if (known === undefined) throw new Error("no run");
    const clock = await createBusinessClocks().read(profile());
    const make = async (name: string, createdBy: string, roles: readonly string[]) => {
      const made = await createToken(store, { name, roles, createdBy, nowMs: Date.now() });
      return { tokenId: made.tokenId, name, roles };
    };
    const first = await make("new", "lou", ["owner"]);
    await make("middle", "lou", ["admin"]);
    for (const principal of [first, await make("straw", "middle", ["owner"])]) {
      const request = { decision: "approve", planHash: run.planHash, drop: [] } as const;
      const deciding = { run: known, request, principal, clock, nowMs: Date.now() };
      const verdict = await store.transaction((trx) => takeAnyDecision(trx, deciding));
      expect(verdict).toMatchObject({ accepted: false, code: "launchers-token" });
    }
  });

  test("of a token that nobody has confirmed", async () => {
    const token = { name: "bob", roles: ["owner"], createdBy: "eve", nowMs: Date.now() };
    const answer = await decide((await createToken(gateway.store, token)).token);
    expect(answer.status).toBe(401);
    expect(answer.json["message"]).toContain("payrun token confirm tok_");
  });

  test("on an old plan", async () => {
    const token = await gateway.token("cora", ["controller"]);
    const answer = await decide(token, { planHash: "plan-of-yesterday" });
    expect(answer.status).toBe(409);
    expect(answer.json["error"]).toBe("stale_plan");
    expect(await approved("p1")).toBe(false);
  });

  test("that leaves out what is not in the plan", async () => {
    const token = await gateway.token("cora", ["controller"]);
    const answer = await decide(token, { drop: ["p1", "stranger"] });
    expect(answer.status).toBe(422);
    expect(answer.json["message"]).toContain("stranger");
    expect(await lineState(gateway.store, run.runId, "p1")).toBe("awaiting-approval");
  });

  test("that leaves out what is being paid", async () => {
    await setLine(gateway.store, run.runId, "p1", { state: "paying" });
    const token = await gateway.token("cora", ["controller"]);
    const answer = await decide(token, { drop: ["p1"] });
    expect(answer.status).toBe(422);
    expect(await lineState(gateway.store, run.runId, "p1")).toBe("paying");
  });

  test("on a run that is being cancelled", async () => {
    await gateway.store.transaction((trx) => requestCancel(trx, run.runId, "oli", Date.now()));
    const answer = await decide(await gateway.token("cora", ["controller"]));
    expect(answer.status).toBe(409);
  });

  test("on a run that nobody knows", async () => {
    const token = await gateway.token("cora", ["controller"]);
    const answer = await gateway.call("POST", "/v1/runs/pay-run%2Fx/decisions", token, {
      decision: "approve",
      planHash: "x",
    });
    expect(answer.status).toBe(404);
  });
});

test("two people who approve at the same moment both count", async () => {
  const tokens = await Promise.all(
    ["otto", "olga", "cora"].map((name) => gateway.token(name, ["owner"])),
  );
  const answers = await Promise.all(tokens.map((token) => decide(token)));
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200]);
  const approvers = await approversOf(gateway.store.db, run.runId, ["p_odd"], Date.now());
  expect(approvers.get("p_odd")).toEqual(["cora", "olga", "otto"]);
});
