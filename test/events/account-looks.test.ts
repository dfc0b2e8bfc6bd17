import { expect, onTestFinished, test } from "vitest";
import type { LineState } from "../../src/contracts/line-states.ts";
import { changeLine, getRunLine } from "../../src/store/lines/lines.ts";
import { listNotices } from "../../src/store/notices/notices.ts";
import { serviceWithAccounts } from "../gateway/support/funding-service.ts";
import {
  deliver,
  eventBody,
  profile,
  startTestGateway,
  type TestGateway,
} from "../gateway/support/gateway.ts";
import { planLine, seedRun } from "../gateway/support/rows.ts";
import { until } from "../support/waits.ts";

const ID = "ba_ours";

/** A gateway whose service shows one bank account in this state; null if it shows none. */
class Scene {
  #gateway: TestGateway | undefined;
  /** Undefined while the service fails. */
  status: string | null | undefined = "verified";
  leapMs = 0;
  runId = "";

  static async start(): Promise<Scene> {
    const scene = new Scene();
    const apiUrl = await serviceWithAccounts(() => scene.shown());
    const gateway = await startTestGateway({
      profiles: [profile({ apiUrl })],
      nowMs: () => Date.now() + scene.leapMs,
    });
    scene.#gateway = gateway;
    onTestFinished(() => gateway.stop());
    const funding = { ...planLine("x").funding, sourceId: ID, kind: "bank" };
    const lines = ["to_pay", "sent"].map((payableId) => planLine(payableId, { funding }));
    scene.runId = (await seedRun(gateway.store, { lines })).runId;
    await scene.become("to_pay", "planned");
    await scene.become("sent", "scheduled");
    return scene;
  }

  get gateway(): TestGateway {
    if (this.#gateway === undefined) throw new Error("it has not started");
    return this.#gateway;
  }

  shown():
    | { readonly accounts: readonly unknown[]; readonly sources: readonly unknown[] }
    | undefined {
    if (this.status === undefined) return undefined;
    const accounts = this.status === null ? [] : [{ id: ID, status: this.status }];
    const isListed = this.status === "verified";
    return { accounts, sources: isListed ? [{ id: ID, kind: "bank", canPay: true }] : [] };
  }

  become(payableId: string, state: LineState) {
    const { runId, gateway } = this;
    return changeLine(gateway.store.db, { runId, payableId }, { state, funded: true }, 1);
  }

  async funded(payableId: string): Promise<boolean | undefined> {
    return (await getRunLine(this.gateway.store.db, this.runId, payableId))?.funded;
  }

  async send(type: string, objectId = ID): Promise<void> {
    const answer = await deliver(
      this.gateway.url,
      eventBody({ objectId, type, object: "bank_account" }),
    );
    expect(answer.status).toBe(200);
  }

  /** Waits until every event has got its look. */
  async looked(): Promise<void> {
    const { db } = this.gateway.store;
    const events = db.selectFrom("inbox").select("event_id").where("dispatched_at_ms", "is", null);
    const looks = db.selectFrom("account_looks").select("account_id");
    await until(
      async () => [
        ...(await events.execute()),
        ...(await looks.whereRef("looked", "<", "asked").execute()),
      ],
      (left) => left.length === 0,
    );
  }

  notices(kind = "funding-source-removed") {
    return listNotices(this.gateway.store.db, { businessId: "biz_acme", kind, limit: 50 });
  }
}

test("an account that the service shows as removed loses its reservations for unsent bills, its runs are signaled and operators notified once", async () => {
  const scene = await Scene.start();
  scene.status = "removed";
  for (let times = 0; times < 10; times += 1) await scene.send("bank_account.removed");
  await scene.looked();
  await scene.send("bank_account.removed");
  await scene.looked();
  expect([await scene.funded("to_pay"), await scene.funded("sent")]).toEqual([false, true]);
  const signals = scene.gateway.store.db.selectFrom("pending_signals").select("workflow_id");
  expect((await signals.execute()).map((row) => row.workflow_id)).toContain(scene.runId);
  const [notice, ...others] = await scene.notices();
  expect(others).toEqual([]);
  expect(notice).toMatchObject({
    roles: ["operator"],
    subject: "Bank account Balance was removed at the service",
  });
  expect(notice?.text).toContain("paid from Balance (ba_ours) while");
  expect(notice?.text).toContain(`- ${scene.runId}: 1 bill planned, $100.00\n`);
  expect(notice?.text).toContain(`- ${scene.runId}: 1 bill scheduled, $100.00, which may fail`);
  // Verified again and removed again, it is news again.
  scene.status = "verified";
  await scene.send("bank_account.verified");
  await scene.looked();
  scene.status = null;
  await scene.send("bank_account.removed");
  await scene.looked();
  const [later] = await scene.notices();
  expect([later?.subject, (await scene.notices()).length]).toEqual([
    "The service doesn't show bank account Balance any more",
    2,
  ]);
});

test.each([
  "bank_account.removed",
  "bank_account.verification_failed",
  "bank_account.created",
  "bank_account.exploded",
])(
  "ten events %s about an account that the service shows as verified change nothing",
  async (type) => {
    const scene = await Scene.start();
    await Promise.all(Array.from({ length: 10 }, () => scene.send(type)));
    await Promise.all(Array.from({ length: 10 }, (_, at) => scene.send(type, `ba_unknown_${at}`)));
    await scene.looked();
    expect([await scene.funded("to_pay"), await scene.funded("sent")]).toEqual([true, true]);
    expect(await listNotices(scene.gateway.store.db, { limit: 50 })).toEqual([]);
    const kept = scene.gateway.store.db.selectFrom("account_looks").select("account_id");
    expect(await kept.execute()).toEqual([{ account_id: ID }]);
  },
);

test("an account list with an unreadable id proves no account missing", async () => {
  const scene = await Scene.start();
  scene.shown = () => ({ accounts: [{ id: 7, status: "verified" }], sources: [] });
  await scene.send("bank_account.removed");
  await scene.looked();
  expect([await scene.funded("to_pay"), await scene.notices()]).toEqual([true, []]);
});

test("a look that fails is tried again, and operators are notified if it keeps failing", async () => {
  const scene = await Scene.start();
  scene.status = undefined;
  await scene.send("bank_account.removed");
  const failing = "Reading bank accounts that events of the service name";
  const logged = async () => scene.gateway.logged.join("\n");
  await until(logged, (log) => log.includes(`${failing} has failed; trying again`));
  expect([await scene.funded("to_pay"), await scene.notices()]).toEqual([true, []]);
  scene.leapMs = 4 * 60_000;
  const [told] = await until(
    () => scene.notices("step-failed"),
    (notices) => notices.length > 0,
  );
  expect(told?.subject).toContain(failing);
  scene.status = "removed";
  scene.leapMs = 60 * 60_000;
  await scene.looked();
  expect(await scene.funded("to_pay")).toBe(false);
});
