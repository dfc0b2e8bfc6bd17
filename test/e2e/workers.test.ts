import type { ChildProcess } from "node:child_process";
import { hostname } from "node:os";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { RunStatus } from "../../src/api/runs.ts";
import { freeze } from "../support/freeze.ts";
import { isLong } from "../support/long.ts";
import { startPayrun, type TestPayrun } from "../support/payrun.ts";
import {
  expectSettledOnce,
  paymentRequests,
  paymentsOf,
  plannedScene,
  type Scene,
  scenePlaybook,
  standing,
  untilEachHasPayments,
} from "../support/scene.ts";
import { approve } from "../support/stack.ts";
import { storeKinds, storePlace } from "../support/store-kinds.ts";

let payrun: TestPayrun;

const PAYMENT = { method: "POST", path: "/v1/payments" } as const;

function slowPayments(delayMs: number): Promise<unknown> {
  return payrun.sandbox.control.faults([{ ...PAYMENT, when: "after", effect: "delay", delayMs }]);
}

/** Returns which workers have sent payments for these bills, by the ledger. */
async function senders(scene: Scene): Promise<Set<string>> {
  const rows = await payrun.store.db
    .selectFrom("sends")
    .select("sent_by")
    .where(
      "subject",
      "in",
      scene.made.map(({ id }) => id),
    )
    .execute();
  return new Set(rows.map((row) => row.sent_by.split("/")[0] ?? ""));
}

type SentRow = Awaited<ReturnType<typeof known>>["sends"][number];

/** Returns everything that the store knows of a scene's lines and their requests. */
async function known(scene: Scene) {
  const lines = await payrun.store.db
    .selectFrom("run_lines")
    .select(["payable_id", "state", "payment_ids", "lease_epoch", "attempts"])
    .where("run_id", "=", scene.runId)
    .orderBy("payable_id")
    .execute();
  const sends = await payrun.store.db
    .selectFrom("sends")
    .selectAll()
    .where("owner", "=", scene.runId)
    .orderBy("send_id")
    .execute();
  return { lines, sends };
}

/** Returns the requests of a scene whose sender hasn't recorded a result yet. */
async function unanswered(scene: Scene): Promise<string[]> {
  const { sends } = await known(scene);
  return sends.filter(({ result }) => result === "pending").map(({ send_id }) => send_id);
}

/** Returns the part of a send that no answer changes. */
function request({ send_id, subject, seq, send_no, sent_by }: SentRow) {
  return { send_id, subject, seq, send_no, sent_by };
}

/** Lets a frozen worker continue, and waits until it is at work again. */
async function thaw(worker: ChildProcess): Promise<void> {
  worker.kill("SIGCONT");
  const marker = `thaw-${worker.pid}`;
  // Only this worker is left to answer, so an answer shows that it is awake.
  const others = payrun.workers.filter((each) => each !== worker);
  try {
    for (const other of others) await freeze(payrun, other);
    await payrun.apply(marker, scenePlaybook(marker));
    const runId = await payrun.launch(marker);
    await payrun.until(runId, "planned", ({ phase }) => phase !== "planning");
  } finally {
    for (const other of others) other.kill("SIGCONT");
  }
}

describe.each(storeKinds("postgres"))("on a store in %s,", (kind) => {
  let stop = async (): Promise<void> => undefined;

  beforeAll(async () => {
    const place = await storePlace(kind);
    stop = place.stop;
    payrun = await startPayrun(place.options);
  });
  afterEach(async () => {
    await payrun.recover();
  });
  afterAll(async () => {
    await payrun?.stop();
    await stop();
  });

  describe("two workers", () => {
    test.runIf(isLong)(
      "if one of two workers is killed while paying, the other finishes the run",
      async () => {
        await payrun.startWorker();
        const amounts = Array.from({ length: 50 }, (_, index) => (index + 1) * 1_00);
        const scene = await plannedScene(payrun, "shared", amounts);
        await slowPayments(1_500);
        await approve(payrun, scene.runId);
        // The server chooses which of them gets the lanes: the one that pays is killed.
        await expect.poll(async () => (await senders(scene)).size).not.toBe(0);
        const paying = await senders(scene);
        const killed = payrun.workers.find(({ pid }) => paying.has(`${hostname()}:${pid}`));
        if (killed === undefined)
          throw new Error(`none of ours has paid: ${[...paying].join(", ")}`);
        await payrun.killWorker(killed);
        expect(payrun.workers).toHaveLength(1);
        await payrun.sandbox.control.faults([]);
        await expectSettledOnce(payrun, scene);
      },
    );

    // `npm test` also covers a worker that freezes, where it pays alone: unanswered.test.ts.
    test.runIf(isLong)(
      "a worker that froze past its lease sends nothing and changes no line when it wakes up",
      async () => {
        const [frozen] = payrun.workers;
        if (frozen === undefined) throw new Error("there is no worker to freeze");
        const amounts = Array.from({ length: 12 }, (_, index) => (index + 1) * 1_00);
        const scene = await plannedScene(payrun, "frozen-late", amounts);
        await slowPayments(1_500);
        await approve(payrun, scene.runId);
        await untilEachHasPayments(payrun, [scene.made[0]], 1, 30_000);
        await freeze(payrun, frozen);
        try {
          await payrun.sandbox.control.faults([]);
          await payrun.startWorker();
          await payrun.until(scene.runId, "paid", ({ counts }) => counts.scheduled === 12);
          const before = await known(scene);
          await thaw(frozen);
          // Only its sender can record the answers to its own requests, however late.
          await expect.poll(() => unanswered(scene)).toEqual([]);
          const after = await known(scene);
          expect(after.lines).toEqual(before.lines);
          expect(after.sends.map(request)).toEqual(before.sends.map(request));
        } finally {
          frozen.kill("SIGCONT");
        }
        const payments = await Promise.all(scene.made.map((bill) => paymentsOf(payrun, bill)));
        expect(payments.map(({ length }) => length)).toEqual(scene.made.map(() => 1));
        await expectSettledOnce(payrun, scene);
      },
    );
  });

  describe("a pause that the service asks for", () => {
    test.runIf(isLong)(
      "a pause that the service asks for holds for every worker, even one that starts later",
      async () => {
        const { control } = payrun.sandbox;
        const told = await plannedScene(payrun, "told-to-wait", [1_00, 2_00, 3_00]);
        const later = await plannedScene(payrun, "approved-later", [4_00, 5_00, 6_00]);
        const slowDown = {
          when: "before",
          effect: "status",
          status: 429,
          retryAfter: 600,
        } as const;
        await control.faults([{ ...PAYMENT, ...slowDown, times: 3 }]);
        await approve(payrun, told.runId);
        const waits = ({ waitingFor }: RunStatus): boolean => /slow down/.test(waitingFor ?? "");
        await payrun.until(told.runId, "waiting", waits);
        await payrun.killWorkers();
        const sent = await paymentRequests(payrun);
        await payrun.startWorker();
        await approve(payrun, later.runId);
        // No other worker is left that could have found that out.
        await payrun.until(
          later.runId,
          "waiting",
          (status) => waits(status) && standing(status)["planned"] === 3,
        );
        expect(await paymentRequests(payrun)).toBe(sent);
        await control.faults([]);
        await control.advanceWire("PT11M");
        for (const scene of [told, later]) await expectSettledOnce(payrun, scene);
      },
    );
  });

  describe("two runs on one balance", () => {
    test("two runs on one balance never reserve the same money: the second pays what fits, or waits", async () => {
      const { control } = payrun.sandbox;
      const short = (name: string, whenShort: string): Promise<Scene> =>
        plannedScene(payrun, name, [300_00, 400_00], {
          pay: `{ on: next-business-day, whenShort: ${whenShort} }`,
        });
      const [first, second] = [await short("one", "most-urgent-first"), await short("two", "wait")];
      await control.changeBusiness({ balanceCents: 1_000_00 });
      await Promise.all([approve(payrun, first.runId), approve(payrun, second.runId)]);
      const scenes = [first, second];
      const stand = async () => Promise.all(scenes.map(({ runId }) => payrun.status(runId)));
      const sentOrShort = ({ payments }: Awaited<ReturnType<typeof stand>>[number]): boolean =>
        payments.every(
          ({ state, reasonCode }) => state === "scheduled" || reasonCode === "funding_short",
        );
      await expect.poll(async () => (await stand()).every(sentOrShort)).toBe(true);
      const promised = (await stand())
        .flatMap(({ payments }) => payments)
        .filter(({ state }) => state === "scheduled")
        .reduce((sum, { amountCents }) => sum + amountCents, 0);
      expect([700_00, 1_000_00]).toContain(promised);
      await control.changeBusiness({ balanceCents: 5_000_00 });
      for (const scene of scenes) await expectSettledOnce(payrun, scene);
    });
  });
});
