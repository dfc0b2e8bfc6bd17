import { describe, expect } from "vitest";
import { type Payment, PaymentsApiError } from "../../../src/payments-api/index.ts";
import { listNotices, type Notice } from "../../../src/store/notices/notices.ts";
import { withoutPauses } from "../../support/without-pauses.ts";
import { type MoneyWorld, test } from "../money-world.ts";

function late(world: MoneyWorld, runId: string): Promise<Notice[]> {
  return listNotices(world.store.db, { runId, kind: "payment-late", limit: 10 });
}

/** Shows every payment in this status, whatever its real one is. */
function stuckAs(world: MoneyWorld, status: string): void {
  const { payments } = world.context().clientOf("acme");
  world.override = {
    listAll: async (filters) =>
      (await payments.listAll(filters)).map((each): Payment => ({ ...each, status })),
  };
}

describe("notices of late payments", () => {
  test.for([
    ["that the bank has said nothing of a payment for weeks", "processing", "still under way"],
    ["that a payment is in a status that nobody knows", "in_limbo", "still under way"],
    ["that the service holds a payment back after its day", "held", "held by the service"],
    ["that a payment did not run on its day", "scheduled", "still scheduled"],
  ] as const)("operators are notified once %s", async ([_, status, said], { world }) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    await world.pay(runId);
    stuckAs(world, status);
    await world.follow(runId);
    expect(await late(world, runId)).toEqual([]);
    await world.control.advance("P16D");
    for (let looks = 0; looks < 3; looks += 1) await world.follow(runId);
    const [notice, ...more] = await late(world, runId);
    expect(more).toEqual([]);
    expect(notice).toMatchObject({ roles: ["operator"], data: { payableIds: [payableId] } });
    expect(notice?.text).toContain(` (${payableId}), $100.00, due to run on `);
    expect(notice?.subject).toMatch(/: the payment of 1 bill is late$/);
    expect(notice?.text).toContain(said);
    world.override = {};
    await world.follow(runId);
    expect((await world.line(runId, payableId)).state).toBe("settled");
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
  });

  test("operators are notified once that a retry's payment does not end", async ({ world }) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    await world.control.outcome({
      match: { payableId },
      outcome: "fail",
      code: "R01",
      times: 1,
    });
    await world.pay(runId);
    await world.control.advance("P9D");
    await world.follow(runId);
    await world.look(payableId);
    await world.control.advance("P4D");
    expect((await world.look(payableId)).phase).toBe("pay");
    await world.retry(payableId);
    const [failed] = await world.paymentsOf(payableId).then((all) => all.toReversed());
    const { payments } = world.context().clientOf("acme");
    world.override = {
      listAll: async (filters) =>
        (await payments.listAll(filters)).map((each) =>
          each.id === failed?.id ? each : { ...each, status: "processing" },
        ),
    };
    expect((await world.look(payableId)).phase).toBe("following");
    expect(await late(world, runId)).toEqual([]);
    await world.control.advance("P16D");
    for (let looks = 0; looks < 2; looks += 1) await world.look(payableId);
    expect(await late(world, runId)).toHaveLength(1);
  });

  test("operators are notified once that for an hour nobody knows whether a request has paid", async ({
    world,
  }) => {
    withoutPauses();
    const { runId, payableId } = await world.approvedRun([{}]);
    const page = { kind: "http", status: 502, body: undefined, bodyText: "<html>" } as never;
    world.override = { sendMoneyWrite: () => Promise.resolve(page) };
    await world.pay(runId);
    expect((await world.line(runId, payableId)).state).toBe("unknown");
    expect(await late(world, runId)).toEqual([]);
    for (let tries = 0; tries < 4; tries += 1) {
      await world.world.pass(22 * 60_000);
      await world.pay(runId);
    }
    const [notice, ...more] = await late(world, runId);
    expect(more).toEqual([]);
    expect(notice?.subject).toMatch(/whether One BILL-\d+ is paid/);
    expect(notice?.text).toContain("keeps checking");
  });
});

test("a bill whose payments the service no longer lists keeps no other from being followed", async ({
  world,
}) => {
  const { runId, payableIds } = await world.approvedRun([{}, {}]);
  const [gone = "", other = ""] = payableIds;
  await world.pay(runId);
  await world.control.advance("P9D");
  const { payments } = world.context().clientOf("acme");
  const missing = new PaymentsApiError({
    code: "not_found",
    status: 404,
    outcome: "not_applied",
    method: "GET",
    path: "/v1/payments",
    message: "no such bill",
  });
  world.override = {
    listAll: (filters) =>
      filters?.payableId === gone ? Promise.reject(missing) : payments.listAll(filters),
  };
  await world.follow(runId);
  await world.follow(runId);
  expect((await world.line(runId, other)).state).toBe("settled");
  expect((await world.line(runId, gone)).state).not.toBe("settled");
  expect(await late(world, runId)).toMatchObject([{ data: { payableIds: [gone] } }]);
});
