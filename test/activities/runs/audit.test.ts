import { describe, expect } from "vitest";
import { createHash } from "node:crypto";
import { attemptsOf } from "../../../src/ledger/attempts.ts";
import { type AuditEntry, listAudit } from "../../../src/store/audit/audit.ts";
import { listAuditOfPayable } from "../../../src/store/audit/audit-lines.ts";
import { verifyTrail } from "../../../src/store/audit/audit-trail.ts";
import { createHold } from "../../../src/store/holds/holds.ts";
import { type MoneyWorld, test } from "../money-world.ts";

async function about(world: MoneyWorld, runId: string, payableId: string): Promise<AuditEntry[]> {
  const { lineNo } = await world.line(runId, payableId);
  const payable = { businessId: world.businessId, payableId };
  return listAuditOfPayable(world.store.db, payable, [{ runId, lineNo }]);
}

const actions = (entries: readonly AuditEntry[]) => entries.map(({ action }) => action);

const details = (entries: readonly AuditEntry[], action: string) =>
  entries.filter((entry) => entry.action === action).map((entry) => entry.details);

describe("the trail of a bill", () => {
  test("the trail of a bill has each change, and its request before and after it was sent", async ({
    world,
  }) => {
    const { runId, payableIds } = await world.approvedRun([{}, { contactId: "v2" }]);
    await world.pay(runId);
    await world.control.advance("P10D");
    await world.follow(runId);
    for (const payableId of payableIds) {
      const trail = await about(world, runId, payableId);
      expect(actions(trail)).toEqual([
        "line:awaiting-approval",
        "approval.given",
        "line:planned",
        "attempt.sending",
        "attempt.answered",
        "line:settled",
      ]);
      const [attempt] = await attemptsOf(world.store.db, world.businessId, payableId);
      expect(details(trail, "attempt.sending")).toMatchObject([
        {
          operation: "pay",
          seq: 1,
          send: 1,
          attemptId: attempt?.attemptId,
          key: attempt?.idempotencyKey,
          bodyHash: createHash("sha256")
            .update(attempt?.body ?? "")
            .digest("hex"),
          amountCents: 10_000,
        },
      ]);
      const [paid] = await world.paymentsOf(payableId);
      expect(details(trail, "attempt.answered")).toMatchObject([
        { result: "applied", payments: [{ id: paid?.id, amountCents: 10_000 }] },
      ]);
      expect(details(trail, "line:settled")).toMatchObject([
        { payments: [{ id: paid?.id, status: "completed" }] },
      ]);
    }
    expect(await verifyTrail(world.store.db, world.businessId)).toMatchObject({ problems: [] });
  });

  test("the trail says what a lookup found after a lost answer, and that it was adopted", async ({
    world,
  }) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    world.override = world.lostAnswers();
    await world.pay(runId);
    const trail = (await about(world, runId, payableId)).slice(3);
    const [paid] = await world.paymentsOf(payableId);
    expect(actions(trail)).toEqual([
      "attempt.sending",
      "attempt.answered",
      "attempt.looked-up",
      "attempt.adopted",
      "line:scheduled",
    ]);
    expect(details(trail, "attempt.answered")[0]).toMatchObject({ result: "unknown" });
    expect(details(trail, "attempt.looked-up")).toMatchObject([
      { verdict: "adopt", isConclusive: false, shown: 1, found: [{ id: paid?.id }] },
    ]);
    expect(details(trail, "attempt.adopted")).toMatchObject([{ payments: [{ id: paid?.id }] }]);
  });

  test("the trail names the check that kept a request from being sent", async ({ world }) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    await world.assess(runId);
    const { businessId } = world;
    await world.store.transaction((trx) =>
      createHold(trx, {
        businessId,
        scope: "payable",
        value: payableId,
        reason: "Disputed.",
        author: "olga",
        untilMs: null,
        nowMs: Date.now(),
      }),
    );
    await world.pay(runId);
    const trail = await about(world, runId, payableId);
    expect(actions(trail)).toEqual([
      "line:awaiting-approval",
      "approval.given",
      "line:planned",
      "line:on-hold",
    ]);
    expect(details(trail, "line:on-hold")).toMatchObject([{ reasonCode: "on_hold" }]);
  });

  test("the trail has no token, no account number and no vendor's name", async ({ world }) => {
    const { runId } = await world.approvedRun([{}, {}]);
    await world.pay(runId);
    const entries = await listAudit(world.store.db, { businessId: world.businessId });
    // Digits of an account could appear by chance in ids, hashes and instants.
    const text = JSON.stringify(entries).replaceAll(/[0-9a-f-]{16,}|\b\d{13}\b/g, "");
    const { token } = world.world.sandbox.business;
    expect(entries.length).toBeGreaterThan(5);
    for (const secret of [token, "1111", '"One"', "displayName"]) {
      expect(text).not.toContain(secret);
    }
  });
});
