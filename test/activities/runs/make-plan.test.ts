import { describe, expect } from "vitest";
import { PlanRefusedError } from "../../../activities/shared/plan-refused-error.ts";
import { planOnce } from "../../../activities/runs/make-plan.ts";
import { dryPlan } from "../../support/dry-plan.ts";
import { newYorkDate } from "../../../src/domain/clock/new-york.ts";
import { claimOwners, claimPayables } from "../../../src/store/payables/claims.ts";
import { getDryPlanPage } from "../../../src/store/plans/dry-plans.ts";
import { createHold } from "../../../src/store/holds/holds.ts";
import { changeLine } from "../../../src/store/lines/lines.ts";
import { applyPlaybook } from "../../../src/store/playbooks/playbooks.ts";
import { getPlanLines, listSkipped } from "../../../src/store/lines/plan-lines.ts";
import { getRun } from "../../../src/store/runs/runs.ts";
import { subscribersOf } from "../../../src/store/payables/subscriptions.ts";
import { inDays, PERIOD, type PlanningWorld, POLICY, test } from "../planning-world.ts";

const due = { dueDate: inDays(8), issueDate: inDays(-20), totalAmountCents: 10_000 };

async function planned(planning: PlanningWorld, runId: string) {
  const summary = await planOnce(planning.context(), runId);
  if (summary === undefined) throw new Error(`${runId} has ended`);
  const lines = await getPlanLines(planning.store.db, runId);
  const skipped = await listSkipped(planning.store.db, runId);
  const codes = new Map(skipped.map((line) => [line.payableId, line.code]));
  return { summary, lines: new Map(lines.map((each) => [each.plan.payableId, each])), codes };
}

describe("planning a run", () => {
  test("a plan accounts for every bill: planned with dates and rule, or left out with a reason", async ({
    planning,
  }) => {
    await planning.reset({
      payables: [
        { ...due, id: "in", contactId: "v1" },
        {
          ...due,
          id: "rest",
          contactId: "v2",
          payments: [{ status: "completed", amountCents: 4_000 }],
        },
        { ...due, id: "moving", contactId: "v2", payments: [{ status: "processing" }] },
        { ...due, id: "paid", contactId: "v2", payments: [{ status: "completed" }] },
        { ...due, id: "later", contactId: "v1", dueDate: inDays(60) },
        { ...due, id: "draft", contactId: "v1", status: "draft" },
        { ...due, id: "void", contactId: "v1", status: "void" },
        { ...due, id: "unpayable", contactId: "v3" },
        { ...due, id: "held", contactId: "v1" },
        { ...due, id: "taken", contactId: "v1" },
      ],
    });
    const { businessId } = planning.sandbox.business;
    const nowMs = Date.now();
    await planning.store.transaction((trx) =>
      createHold(trx, {
        businessId,
        scope: "payable",
        value: "held",
        reason: "disputed",
        author: "olga",
        untilMs: null,
        nowMs,
      }),
    );
    const other = { businessId, payableIds: ["taken"], owner: "pay-run/acme/other/x", nowMs };
    await planning.store.transaction((trx) => claimPayables(trx, other));

    const runId = await planning.launch("everything");
    const { summary, lines, codes } = await planned(planning, runId);

    expect([...lines.keys()].sort()).toEqual(["in", "rest"]);
    expect(Object.fromEntries(codes)).toEqual({
      moving: "already_on_its_way",
      paid: "paid",
      later: "not_due",
      draft: "not_approved",
      void: "void",
      unpayable: "vendor_not_payable",
      held: "on_hold",
      taken: "claimed",
    });
    expect(summary).toMatchObject({ lineCount: 2, totalCents: 16_000, skippedCount: 8 });
    const line = lines.get("rest");
    expect(line?.plan).toMatchObject({
      amountCents: 6_000,
      totalCents: 10_000,
      bankLast4: "2222",
      approvers: ["owner"],
      funding: {
        sourceId: "balance",
        pay: { paymentRail: "SERVICE", fundingSource: "balance", bankAccountId: "bank_main" },
        needsAchAuthorization: false,
      },
    });
    expect(line?.line.state).toBe("awaiting-approval");
    expect(line !== undefined && line.plan.executionDate > newYorkDate(nowMs)).toBe(true);
  });

  test("a plan claims and subscribes to exactly its bills, and starts the time to approve", async ({
    planning,
  }) => {
    await planning.reset({
      payables: [
        { ...due, id: "c1", contactId: "v1" },
        { ...due, id: "c2", contactId: "v1", status: "draft" },
      ],
    });
    const { businessId } = planning.sandbox.business;
    const runId = await planning.launch("claims");
    // Left by a try that died after claiming a bill that is no longer to be paid.
    const stray = { businessId, payableIds: ["c2"], owner: runId, nowMs: Date.now() };
    await planning.store.transaction((trx) => claimPayables(trx, stray));
    await planned(planning, runId);

    const owners = await claimOwners(planning.store.db, businessId, ["c1", "c2"]);
    expect([...owners]).toEqual([["c1", runId]]);
    const watches = await subscribersOf(planning.store.db, businessId, ["c1", "c2"]);
    expect(watches.map((watch) => [watch.payableId, watch.owner])).toEqual([["c1", runId]]);
    const run = await getRun(planning.store.db, runId);
    expect(run?.approveByMs).toBeGreaterThan(Date.now() + 29 * 86_400_000);
    expect(run?.planHash).toMatch(/^[0-9a-f]{64}$/);
  });

  test("a run keeps its first plan even if its bills change", async ({ planning }) => {
    await planning.reset({ payables: [{ ...due, id: "k1", contactId: "v1" }] });
    const runId = await planning.launch("once");
    const first = await planned(planning, runId);
    await planning.sandbox.control.changePayable("k1", { totalAmountCents: 99_000 });
    const again = await planned(planning, runId);
    expect(again.summary).toEqual(first.summary);
    expect(again.lines.get("k1")?.plan.amountCents).toBe(10_000);
  });

  test("a plan counts other runs' commitments against the week's limits and the cash", async ({
    planning,
  }) => {
    await planning.reset({
      payables: [
        { ...due, id: "w1", contactId: "v1", dueDate: inDays(1) },
        { ...due, id: "w2", contactId: "v1", dueDate: inDays(1) },
      ],
    });
    const where = (id: string) => ({ ...POLICY, where: `payable.id == "${id}"` });
    const first = await planning.launch("limits-1", where("w1"));
    await planned(planning, first);
    await changeLine(
      planning.store.db,
      { runId: first, payableId: "w1" },
      { state: "scheduled" },
      Date.now(),
    );
    const limits = { ...POLICY.limits, vendorPerWeekCents: 15_000 };
    const second = await planning.launch("limits-2", { ...where("w2"), limits });
    const { lines, summary, codes } = await planned(planning, second);
    expect(codes.get("w1")).toBe("where_not_met");
    expect(lines.get("w2")?.plan.overLimit?.code).toBe("over_vendor_week_limit");
    expect(lines.get("w2")?.line).toMatchObject({
      state: "parked",
      reasonCode: "over_vendor_week_limit",
    });
    expect(summary.reservedCents).toBe(10_000);
  });

  test("a plan leaves out a bill that the playbook's condition can't judge, and says why", async ({
    planning,
  }) => {
    await planning.reset({
      payables: [
        { ...due, id: "d1", contactId: "v1" },
        { ...due, id: "d2", contactId: "v1", payments: [{ status: "completed", amountCents: 1 }] },
      ],
    });
    const where = "100 / payable.amountPaidCents == 100";
    const { lines, codes } = await planned(
      planning,
      await planning.launch("odd-condition", { ...POLICY, where }),
    );
    expect([...lines.keys()]).toEqual(["d2"]);
    expect(codes.get("d1")).toBe("condition_failed");
  });

  test("a plan that debits a bank account without an ACH authorization is refused with what to do", async ({
    planning,
  }) => {
    await planning.reset({ payables: [{ ...due, id: "h1", contactId: "v1" }] });
    const policy = { ...POLICY, pay: { ...POLICY.pay, from: "bank_main" } };
    const runId = await planning.launch("ach", policy);
    await expect(planned(planning, runId)).rejects.toThrow(PlanRefusedError);
    await expect(planned(planning, runId)).rejects.toThrow(/achAuthorization/);
    const acceptedBy = { acceptedBy: "Olga Owner", acceptedAt: "2026-01-02" };
    const profile = { ...planning.profile, achAuthorization: acceptedBy };
    const summary = await planOnce(planning.context(profile), runId);
    expect(summary).toMatchObject({
      lineCount: 1,
      availableCents: null,
      source: { sourceId: "bank_main", needsAchAuthorization: true },
    });
  });

  test("a plan from an unknown funding source is refused, and names the known ones", async ({
    planning,
  }) => {
    const policy = { ...POLICY, pay: { ...POLICY.pay, from: "bank_gone" } };
    await expect(planned(planning, await planning.launch("gone", policy))).rejects.toThrow(
      /no funding source “bank_gone”.*balance/,
    );
  });

  test("a plan from a bank account that was removed is refused and says so", async ({
    planning,
  }) => {
    await planning.reset({ bankAccounts: [{ id: "bank_old", status: "removed" }] });
    const policy = { ...POLICY, pay: { ...POLICY.pay, from: "bank_old" } };
    await expect(planned(planning, await planning.launch("removed", policy))).rejects.toThrow(
      /“bank_old”.*the bank account is removed.*balance/,
    );
  });

  test("a plan whose source can't pay shows the missing money, and warns with why and where to fix it", async ({
    planning,
  }) => {
    await planning.reset({
      setup: "incomplete",
      payables: [{ ...due, id: "i1", contactId: "v1" }],
    });
    const { summary } = await planned(planning, await planning.launch("not-yet"));
    expect(summary).toMatchObject({ lineCount: 1, availableCents: 0 });
    expect(summary.cash[0]?.leftCents).toBe(-10_000);
    expect(summary.warnings).toEqual([
      expect.stringMatching(
        /“balance” can't pay now: .*\(cleo_pay_not_ready\)\. Fix it at https:\/\/\S+\/setup$/,
      ),
    ]);
    const notices = await planning.store.db
      .selectFrom("notices")
      .select("text")
      .where("kind", "=", "plan-warning")
      .execute();
    expect(notices.at(-1)?.text).toContain(summary.warnings?.[0]);
  });
});

describe("planning dry", () => {
  test("a dry plan has the hash of the run's plan, but claims nothing", async ({ planning }) => {
    await planning.reset({
      payables: [
        { ...due, id: "y1", contactId: "v1" },
        { ...due, id: "y2", contactId: "v3" },
      ],
    });
    await planning.store.transaction((trx) =>
      applyPlaybook(trx, {
        name: "dry",
        kind: "pay-run",
        text: "kind: pay-run",
        business: "acme",
        compiled: { ...POLICY, name: "dry" },
        author: "root",
        authorTokenId: null,
        nowMs: 1,
      }),
    );
    const input = { business: "acme", playbook: "dry", period: PERIOD, dryPlanId: "plan_1" };
    await dryPlan(planning.context(), input);
    const dry = await getDryPlanPage(planning.store.db, "plan_1", { page: 1, pageSize: 10 });
    expect(dry?.lines.map((line) => line.payableId)).toEqual(["y1"]);
    expect(dry?.skipped.map((line) => line.code)).toEqual(["vendor_not_payable"]);
    const { businessId } = planning.sandbox.business;
    expect((await claimOwners(planning.store.db, businessId, ["y1"])).size).toBe(0);

    const { summary } = await planned(planning, await planning.launch("dry"));
    expect(summary.planHash).toBe(dry?.planHash);
  });

  test("a dry plan counts what its period's own run has committed, and counts no bill twice", async ({
    planning,
  }) => {
    await planning.reset({
      payables: [
        { ...due, id: "z1", contactId: "v1" },
        { ...due, id: "z2", contactId: "v1" },
      ],
    });
    const limits = { ...POLICY.limits, vendorPerWeekCents: 15_000 };
    const policy = { ...POLICY, name: "again", limits };
    const runId = await planning.launch("again", { ...policy, limits: POLICY.limits });
    await planned(planning, runId);
    const { db } = planning.store;
    await changeLine(db, { runId, payableId: "z1" }, { state: "scheduled" }, Date.now());
    const approved = { state: "planned", funded: true } as const;
    await changeLine(db, { runId, payableId: "z2" }, approved, Date.now());
    const { id: z3 } = await planning.sandbox.control.createPayable({ ...due, contactId: "v1" });
    await planning.sandbox.control.changePayable("z1", { status: "void" });
    await dryPlan(planning.context(), {
      ...{ business: "acme", playbook: "again", period: PERIOD, dryPlanId: "plan_5" },
      unstored: { policy, revision: 1 },
    });
    const dry = await getDryPlanPage(db, "plan_5", { page: 1, pageSize: 10 });
    expect(dry).toMatchObject({ reservedCents: 10_000 });
    expect(dry?.lines.map(({ payableId }) => payableId).sort()).toEqual([z3, "z2"].sort());
    const over = "over_vendor_week_limit";
    expect(dry?.lines.map(({ overLimit }) => overLimit?.code)).toEqual([over, over]);
  });

  test("a dry plan says which limits are above the profile's, and whose limit a bill is above", async ({
    planning,
  }) => {
    await planning.reset({ payables: [{ ...due, id: "x1", contactId: "v1" }] });
    const limits = { ...POLICY.limits, billCents: 9_000 };
    const policy = { ...POLICY, name: "laxer", limits: { ...POLICY.limits, billCents: 9_500 } };
    await dryPlan(planning.context({ ...planning.profile, limits }), {
      ...{ business: "acme", playbook: "laxer", period: PERIOD, dryPlanId: "plan_6" },
      unstored: { policy, revision: 1 },
    });
    const dry = await getDryPlanPage(planning.store.db, "plan_6", { page: 1, pageSize: 10 });
    expect(dry?.warnings).toEqual([
      "limits.bill is $95.00, and the business's profile allows $90.00: that is in force here, and “payrun apply” refuses the playbook.",
    ]);
    expect(dry?.lines.map(({ overLimit }) => overLimit?.text)).toEqual([
      "$100.00 is above the business profile's limit of $90.00 for one bill.",
    ]);
  });

  test("a dry plan says if a launch would only plan", async ({ planning }) => {
    await planning.reset({ payables: [{ ...due, id: "y1", contactId: "v1" }] });
    const schedule = {
      days: { every: "week", on: "thursday" },
      at: "10:00",
      zone: "America/New_York",
      holidays: "skip",
      catchUpDays: 1,
      mode: "plan-only",
    } as const;
    await dryPlan(planning.context(), {
      ...{ business: "acme", playbook: "beside", period: PERIOD, dryPlanId: "plan_3" },
      unstored: { policy: { ...POLICY, name: "beside", schedule }, revision: 1 },
    });
    const dry = await getDryPlanPage(planning.store.db, "plan_3", { page: 1, pageSize: 10 });
    expect(dry?.warnings).toEqual([
      "A launch pays nothing: its playbook's schedule only plans (mode: plan-only).",
    ]);
    // No decision is due, because nothing is paid.
    expect(dry?.decideBy).toBeNull();
  });

  test("a dry plan of a business without a funding source says what it needs first", async ({
    planning,
  }) => {
    const context = planning.context();
    const client = context.clientOf("acme");
    const without: typeof client = Object.assign(Object.create(client), {
      fundingSources: { list: () => Promise.resolve([]) },
    });
    const input = { business: "acme", playbook: "weekly", period: PERIOD, dryPlanId: "plan_4" };
    const asked: typeof context = Object.create(context, { clientOf: { value: () => without } });
    await expect(
      dryPlan(asked, { ...input, unstored: { policy: POLICY, revision: 1 } }),
    ).rejects.toThrow(/once it is verified and a bank account is linked/);
  });

  test("a dry plan of an unknown playbook names it", async ({ planning }) => {
    const input = { business: "acme", playbook: "nothing", period: PERIOD, dryPlanId: "plan_2" };
    await expect(dryPlan(planning.context(), input)).rejects.toThrow(/nothing/);
  });
});
