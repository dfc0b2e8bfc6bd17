import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Payment, PaymentsApiError } from "../../../src/payments-api/index.ts";
import { listNotices, type Notice } from "../../../src/store/notices/notices.ts";
import { MoneyWorld } from "../money-world.ts";

let world: MoneyWorld;

beforeAll(async () => {
  world = await MoneyWorld.start();
});
afterAll(async () => {
  await world.stop();
});
beforeEach(async () => {
  await world.world.reset();
  await world.control.faults();
  await world.store.db.deleteFrom("business_waits").execute();
  world.override = {};
});

function late(runId: string): Promise<Notice[]> {
  return listNotices(world.store.db, { runId, kind: "payment-late", limit: 10 });
}

/** Shows every payment in this status, whatever has become of it. */
function stuckAs(status: string): void {
  const { payments } = world.context().clientOf("acme");
  world.override = {
    listAll: async (filters) =>
      (await payments.listAll(filters)).map((each): Payment => ({ ...each, status })),
  };
}

describe("operators are told once", () => {
  test.each([
    ["that the bank has said nothing of a payment for weeks", "processing", "still under way"],
    ["that a payment is in a status that nobody knows", "in_limbo", "still under way"],
    ["that the service holds a payment back after its day", "held", "held by the service"],
    ["that a payment did not run on its day", "scheduled", "still scheduled"],
  ])("%s", async (_, status, said) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    await world.pay(runId);
    stuckAs(status);
    await world.follow(runId);
    expect(await late(runId)).toEqual([]);
    await world.control.advance("P16D");
    for (let looks = 0; looks < 3; looks += 1) await world.follow(runId);
    const [notice, ...more] = await late(runId);
    expect(more).toEqual([]);
    expect(notice).toMatchObject({ roles: ["operator"], data: { payableIds: [payableId] } });
    expect(notice?.text).toContain(` (${payableId}), $100.00, due to run on `);
    expect(notice?.text).toContain(said);
    world.override = {};
    await world.follow(runId);
    expect((await world.line(runId, payableId)).state).toBe("settled");
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
  });

  test("that the payment of a retry does not come to an end", async () => {
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
    expect(await late(runId)).toEqual([]);
    await world.control.advance("P16D");
    for (let looks = 0; looks < 2; looks += 1) await world.look(payableId);
    expect(await late(runId)).toHaveLength(1);
  });

  test("that nobody can say for an hour whether a request has paid", async () => {
    const { runId, payableId } = await world.approvedRun([{}]);
    const page = { kind: "http", status: 502, body: undefined, bodyText: "<html>" } as never;
    world.override = { sendMoneyWrite: () => Promise.resolve(page) };
    await world.pay(runId);
    expect((await world.line(runId, payableId)).state).toBe("unknown");
    expect(await late(runId)).toEqual([]);
    for (let tries = 0; tries < 4; tries += 1) {
      await world.world.pass(22 * 60_000);
      await world.pay(runId);
    }
    const [notice, ...more] = await late(runId);
    expect(more).toEqual([]);
    expect(notice?.subject).toMatch(/whether One BILL-\d+ is paid/);
    expect(notice?.text).toContain("keeps checking");
  });
});

test("a bill whose payments the service doesn't list any more keeps no other from being followed", async () => {
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
  expect(await late(runId)).toMatchObject([{ data: { payableIds: [gone] } }]);
});
