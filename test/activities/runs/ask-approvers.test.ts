import { describe, expect } from "vitest";
import type { PayRunPlaybook } from "../../../src/contracts/playbook.ts";
import { type DecisionAnswer, takeDecision } from "../../../src/decisions/take.ts";
import { listAudit } from "../../../src/store/audit/audit.ts";
import { createHold, releaseHold } from "../../../src/store/holds/holds.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { getPlanLine } from "../../../src/store/lines/plan-lines.ts";
import { getRun } from "../../../src/store/runs/runs.ts";
import { type MoneyWorld, test } from "../money-world.ts";
import { inDays } from "../planning-world.ts";

const DAY = { count: 1, unit: "days" } as const;
const HOUR = { count: 1, unit: "hours" } as const;

/** Due so late that no decision can be too late for its date, whatever the day and the holidays. */
const FAR = { dueDate: inDays(40) };

const POLICY: Partial<PayRunPlaybook> = {
  select: { due: "all" },
  approve: [
    {
      review: false,
      overCents: null,
      where: null,
      by: ["controller", "owner"],
      quorum: 2,
      stages: [
        {
          by: ["controller"],
          quorum: 1,
          escalate: { after: { count: 3, unit: "days" }, to: ["cfo"] },
        },
        { by: ["owner"], quorum: 1 },
      ],
    },
  ],
  remind: { after: DAY, every: DAY },
};

/** Returns the notices of a run in order, without the one about its plan. */
async function told(world: MoneyWorld, runId: string): Promise<string[]> {
  const notices = (await listNotices(world.store.db, { runId, limit: 100 })).toReversed();
  return notices.map(({ kind, roles }) => `${kind} ${roles.join("+")}`);
}

async function decide(
  world: MoneyWorld,
  runId: string,
  name: string,
  role: string,
): Promise<DecisionAnswer> {
  const clock = await world.context().clockOf("acme").now();
  const answer = await world.store.transaction(async (trx) => {
    const run = await getRun(trx, runId);
    if (run === undefined) throw new Error("no run");
    const principal = {
      tokenId: `tok_${name}`,
      name,
      roles: [role],
      createdBy: "",
      createdAtMs: 0,
    };
    const request = { decision: "approve", planHash: run.planHash ?? "", drop: [] } as const;
    return takeDecision(trx, { run, request, principal, clock, nowMs: Date.now() });
  });
  if (!answer.accepted) throw new Error(answer.reason);
  return answer;
}

/** Advances the bank's clock, waits until the change is visible, and looks again. */
async function later(world: MoneyWorld, runId: string, duration: string) {
  const { businessMs } = await world.context().clockOf("acme").now();
  await world.control.advance(duration);
  const stepMs = duration.endsWith("D") ? 86_400_000 : 3_600_000;
  await expect
    .poll(async () => (await world.context().clockOf("acme").now()).businessMs)
    .toBeGreaterThan(businessMs + stepMs / 2);
  return world.assess(runId);
}

describe("a run whose approvals come in stages", () => {
  test("each stage is opened in its turn, reminded, and escalated once", async ({ world }) => {
    const { runId, payableId } = await world.plannedRun([FAR, FAR], POLICY);
    const first = await world.assess(runId);
    expect(first.waitingFor).toBe("2 bills waiting for approval by controller (stage 1 of 2)");
    expect(first.details).toMatch(
      /- controller \(stage 1 of 2\): 2 bills, .*cfo may decide as well/,
    );
    await world.assess(runId);
    expect(await told(world, runId)).toEqual(["approval-needed controller"]);

    for (const _day of [1, 2]) {
      await later(world, runId, "PT23H");
      await later(world, runId, "PT1H");
      await world.assess(runId);
    }
    const asked = "approval-needed controller";
    const reminded = "approval-reminder controller";
    expect(await told(world, runId)).toEqual([asked, reminded, reminded]);
    const texts = await listNotices(world.store.db, { runId, limit: 100 });
    for (const { kind, text } of texts.filter(({ kind: of }) => of !== "approval-needed")) {
      expect(text, kind).toMatch(/Decide by \w+day, .* New York: after that, payment dates change/);
    }

    await expect(decide(world, runId, "fay", "cfo")).rejects.toThrow(/takes one of the roles/);
    const escalated = await later(world, runId, "P1D");
    await world.assess(runId);
    expect(escalated.waitingFor).toContain("controller or cfo (stage 1 of 2)");
    expect((await told(world, runId)).toSorted()).toEqual(
      [
        asked,
        "approval-escalated cfo",
        reminded,
        reminded,
        "approval-reminder cfo+controller",
      ].toSorted(),
    );
    const trail = await listAudit(world.store.db, { businessId: world.businessId, subject: runId });
    const entries = trail.filter(({ action }) => action === "run.approval-escalated");
    expect(entries.map(({ details }) => details)).toMatchObject([
      { stage: "1 of 2", by: ["controller"], to: ["cfo"], lines: 2, totalCents: 20_000 },
    ]);

    expect((await decide(world, runId, "fay", "cfo")).countsFor).toHaveLength(2);
    const second = await world.assess(runId);
    expect(second.waitingFor).toBe("2 bills waiting for approval by owner (stage 2 of 2)");
    expect(second.toFund).toBe(0);
    expect((await told(world, runId)).at(-1)).toBe("approval-needed owner");
    await world.assess(runId);
    expect(await told(world, runId)).toHaveLength(6);
    // The escalation was of the first stage only.
    expect((await world.line(runId, payableId)).escalated).toBe(false);

    await decide(world, runId, "olga", "owner");
    const approved = await world.assess(runId);
    expect(approved.waitingFor).not.toContain("approval");
    expect((await world.line(runId, payableId)).state).toBe("planned");
  });

  test("reminders and escalations are due at exact minutes", async ({ world }) => {
    const { runId } = await world.plannedRun([FAR], {
      ...POLICY,
      remind: { after: HOUR, every: DAY },
    });
    const { details } = await world.assess(runId);
    const line = await world.store.db
      .selectFrom("run_lines")
      .select(["stage_since_ms", "remind_at_ms", "escalate_at_ms"])
      .where("run_id", "=", runId)
      .executeTakeFirstOrThrow();
    const since = line.stage_since_ms ?? 0;
    expect(details).toContain("Asked to approve:");
    expect(line.remind_at_ms).toBeGreaterThanOrEqual(since + 3_600_000);
    expect(line.remind_at_ms).toBeLessThan(since + 3_660_000);
    expect((line.escalate_at_ms ?? 0) - since).toBeGreaterThanOrEqual(3 * 86_400_000);
  });

  test("a bill that was on hold gets the whole time for its approval again", async ({ world }) => {
    const { runId, payableId } = await world.plannedRun([FAR], POLICY);
    await world.assess(runId);
    const hold = await world.store.transaction((trx) =>
      createHold(trx, {
        businessId: world.businessId,
        scope: "payable",
        value: payableId,
        reason: "Wait.",
        author: "otto",
        untilMs: null,
        nowMs: Date.now(),
      }),
    );
    await world.assess(runId);
    await later(world, runId, "P4D");
    await world.store.transaction((trx) => releaseHold(trx, hold.holdId, "otto", Date.now()));
    await world.assess(runId);
    expect(await told(world, runId)).toEqual(["approval-needed controller"]);
    expect((await world.line(runId, payableId)).escalated).toBe(false);
  });

  test("an escalation leaves people at least a minute, however fast the bank's clock runs", async ({
    world,
  }) => {
    const { runId, payableId } = await world.plannedRun([FAR], POLICY);
    await world.assess(runId);
    const { businessMs } = await world.context().clockOf("acme").now();
    await world.control.setScale(86_400);
    await expect
      .poll(async () => (await world.context().clockOf("acme").now()).businessMs)
      .toBeGreaterThan(businessMs + 4 * 86_400_000);
    await world.assess(runId);
    await world.control.setScale(1);
    expect(await told(world, runId)).toEqual(["approval-needed controller"]);
    expect((await world.line(runId, payableId)).escalated).toBe(false);
  });

  test("an escalation takes place even if the playbook wants no notices", async ({ world }) => {
    const notify = { people: "none", digest: "none" } as const;
    const { runId, payableId } = await world.plannedRun([FAR], { ...POLICY, notify });
    await world.assess(runId);
    await later(world, runId, "P4D");
    expect(await told(world, runId)).toEqual([]);
    expect((await world.line(runId, payableId)).escalated).toBe(true);
  });

  test("the whole line is parked if its first stage's approval expires before the second decides", async ({
    world,
  }) => {
    const { runId, payableId } = await world.plannedRun([FAR], { ...POLICY, approvalValidDays: 5 });
    await world.assess(runId);
    await decide(world, runId, "cora", "controller");
    await world.assess(runId);
    await later(world, runId, "P6D");
    expect(await world.line(runId, payableId)).toMatchObject({
      state: "parked",
      reasonCode: "approval_expired",
    });
  });
});

test("a changed bill comes under the rule that then applies, with or without stages", async ({
  world,
}) => {
  const [staged] = POLICY.approve ?? [];
  if (staged === undefined) throw new Error("no rule");
  const plain = { review: false, overCents: null, where: null, by: ["owner"], quorum: 1 };
  const approve = [{ ...staged, overCents: 15_000 }, plain];
  const bills = [{ totalAmountCents: 20_000 }, { totalAmountCents: 10_000 }];
  const { runId, payableIds } = await world.plannedRun(bills, { approve, review: [] });
  const [larger = "", smaller = ""] = payableIds;
  await world.assess(runId);
  await decide(world, runId, "cora", "controller");
  await decide(world, runId, "olga", "owner");
  await world.control.changePayable(larger, { totalAmountCents: 12_000 });
  await world.control.changePayable(smaller, { totalAmountCents: 30_000 });
  await world.pay(runId);
  expect((await getPlanLine(world.store.db, runId, larger))?.stages).toBeUndefined();
  expect((await getPlanLine(world.store.db, runId, smaller))?.stages).toHaveLength(2);
  // One owner is enough for the one bill, and too early for the other.
  expect(await decide(world, runId, "otto", "owner")).toMatchObject({
    countsFor: [larger],
    tooEarly: [smaller],
  });
  const { waitingFor } = await world.assess(runId);
  expect(waitingFor).toContain("1 bill waiting for approval by controller (stage 1 of 2)");
  const states = await Promise.all([larger, smaller].map((id) => world.line(runId, id)));
  expect(states.map(({ state }) => state)).toEqual(["planned", "awaiting-approval"]);
});
