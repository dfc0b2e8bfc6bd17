import { expect } from "vitest";
import type { PaymentsClient } from "../../../src/payments-api/index.ts";
import { payment, sendJson, startService } from "../../payments-api/local-service.ts";
import { type MoneyWorld, test } from "../money-world.ts";

const pageOf: Record<string, (page: number) => { ids: string[]; totalCount: number }> = {
  "has no end": (page) => ({
    ids: Array.from({ length: 100 }, (_, index) => `x${page}-${index}`),
    totalCount: 1e12,
  }),
  "repeats its first page": () => ({ ids: ["x"], totalCount: 1e12 }),
  "gets longer as it is read": (page) => ({
    ids: Array.from({ length: 100 }, (_, index) => `x${page}-${index}`),
    totalCount: (page + 1) * 100,
  }),
};

/** Lets a service lie about the payments of each bill. */
async function lyingAbout(how: string): Promise<PaymentsClient["payments"]["listAll"]> {
  const service = await startService(({ url }, response) => {
    const page = Number(new URL(url, "http://service").searchParams.get("page"));
    const { ids, totalCount } = pageOf[how]?.(page) ?? { ids: [], totalCount: 0 };
    const items = ids.map((id) => ({ ...payment(id), status: "failed" }));
    sendJson(response, 200, { items, totalCount });
  });
  const { payments } = service.client();
  return payments.listAll.bind(payments);
}

/** Returns the keys under which anything was sent. */
async function keysSent({ store }: MoneyWorld): Promise<string[]> {
  const sends = await store.db.selectFrom("sends").select("attempt_id").execute();
  return [...new Set(sends.map((send) => send.attempt_id))];
}

for (const how of Object.keys(pageOf)) {
  test(`nothing is sent for a bill whose list of payments ${how}`, async ({ world }) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    world.override = { listAll: await lyingAbout(how) };
    await world.pay(runId);
    expect(await keysSent(world)).toEqual([]);
    world.override = {};
    expect(await world.paymentsOf(payableId)).toEqual([]);
  });

  test(`no other key follows an unanswered payment if the list of payments ${how}`, async ({
    world,
  }) => {
    const { runId, payableId } = await world.approvedRun([{}]);
    const { payments } = world.context().clientOf("acme");
    const lying = await lyingAbout(how);
    const { sendMoneyWrite } = world.lostAnswers();
    let listAll = payments.listAll.bind(payments);
    world.override = {
      listAll: (...asked) => listAll(...asked),
      sendMoneyWrite: async (request) => {
        listAll = lying;
        return sendMoneyWrite?.(request) ?? Promise.reject(new Error("nothing sends"));
      },
    };
    await world.pay(runId);
    for (let turn = 1; turn <= 3; turn += 1) {
      await world.world.pass(45 * 60_000);
      await world.pay(runId);
    }
    expect(await keysSent(world)).toHaveLength(1);
    expect((await world.line(runId, payableId)).paymentIds).toEqual([]);
    world.override = {};
    expect(await world.paymentsOf(payableId)).toHaveLength(1);
  });
}
