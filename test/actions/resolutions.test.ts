import { describe, expect } from "vitest";
import { ResolutionBody } from "../../src/api/schemas.ts";
import { insertLookups, closeLookedUp } from "../../src/ledger/write.ts";
import { listAudit } from "../../src/store/audit/audit.ts";
import { activeHolds, activeHoldsFor } from "../../src/store/holds/holds.ts";
import { claimOwners } from "../../src/store/payables/claims.ts";
import type { TestGateway } from "../gateway/support/gateway.ts";
import { lineState, planLine, seedRun, setLine, type SeededRun } from "../gateway/support/rows.ts";
import { typed } from "../gateway/support/typed.ts";
import { sendOnce } from "../support/sends.ts";
import { parkedTest as test, resolve } from "./parked.ts";

/** Records a request to pay the bill, sent `agoMs` ago, and its response. */
function sent(
  gateway: TestGateway,
  run: SeededRun,
  subject: string,
  heard: Parameters<typeof sendOnce>[2] = { result: "unknown", status: 500 },
  agoMs = 0,
) {
  return sendOnce(
    gateway.store,
    { businessId: "biz_acme", subject, owner: run.runId, agoMs },
    heard,
  );
}

/** Records a look at all payments of the bill, which shows these. */
async function look(
  gateway: TestGateway,
  subject: string,
  shownIds: readonly string[] = [],
): Promise<void> {
  await gateway.store.transactionOf("biz_acme", async (trx) => {
    const nowMs = Date.now();
    const reading = { begunAtMs: nowMs, begunServiceMs: nowMs, isWhole: true };
    const lookups = [{ subject, reading: { ...reading, shownIds, shown: [] } }];
    await insertLookups(trx, "biz_acme", lookups, nowMs);
    await closeLookedUp(trx, "biz_acme", [subject], false);
  });
}

describe("a parked bill", () => {
  test.for<[string, string]>([
    ["paid-elsewhere", "paid-elsewhere"],
    ["give-up", "given-up"],
  ])(
    "a parked bill that is ended by %s is never paid by a later run, loses its claim, and is in the trail",
    async ([action, state], { gateway, operator, run }) => {
      const answer = await resolve(gateway, operator, "p1", action);
      expect(answer.status).toBe(200);
      expect(ResolutionBody.parse(answer.json)).toMatchObject({ payableId: "p1", action, state });
      expect(await lineState(gateway.store, run.runId, "p1")).toBe(state);
      const [hold] = await activeHoldsFor(gateway.store.db, {
        businessId: "biz_acme",
        payableId: "p1",
        contactId: "other",
        sourceId: "other",
        runId: "pay-run/acme/weekly/2026-11-27",
        playbook: "weekly",
        businessNowMs: Date.now() + 10 * 365 * 86_400_000,
      });
      expect(hold?.reason).toContain("spoke with the vendor");
      expect(await claimOwners(gateway.store.db, "biz_acme", ["p1", "p2"])).toEqual(
        new Map([["p2", run.runId]]),
      );
      const trail = await listAudit(gateway.store.db, { businessId: "biz_acme", subject: "p1" });
      expect(trail.at(-1)).toMatchObject({ actor: "oli", action: `payable.resolved-${action}` });
      // It can be ended only once.
      expect((await resolve(gateway, operator, "p1", action)).status).toBe(409);
    },
  );

  test.for<[string, string]>([
    ["paid-elsewhere", "it was paid elsewhere"],
    ["give-up", "it was given up"],
  ])(
    "a bill that was ended by %s stays so if the same person releases all of their holds",
    async ([action, why], { gateway, operator }) => {
      const { db } = gateway.store;
      const words = ["release", "--all", "--by", "oli", "--yes"];
      await typed(gateway, operator, ["stop", "--reason", "fraud?", "--yes"]);
      const { holdId } = ResolutionBody.parse(
        (await resolve(gateway, operator, "p1", action)).json,
      );
      const both = await typed(gateway, operator, words);
      expect(both.stdout).toContain("released: everything");
      expect(both.stdout).toMatch(
        new RegExp(`: ${why}; .*payrun release ${holdId} lifts it by itself`),
      );
      expect((await activeHolds(db, "biz_acme", Date.now())).map((hold) => hold.holdId)).toEqual([
        holdId,
      ]);
      // None of their other holds is left: this one is listed once more, and not released.
      expect(await typed(gateway, operator, words)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(why),
      });
      expect((await typed(gateway, operator, ["release", holdId ?? ""])).code).toBe(0);
      expect(await activeHolds(db, "biz_acme", Date.now())).toEqual([]);
    },
  );

  test("a bill whose payment may have been made can't be ended yet", async ({
    gateway,
    operator,
    run,
  }) => {
    await sent(gateway, run, "p1");
    const answer = await resolve(gateway, operator, "p1", "paid-elsewhere");
    expect(answer.status).toBe(409);
    expect(answer.json["error"]).toBe("attempt_live");
    expect(await lineState(gateway.store, run.runId, "p1")).toBe("parked");
    expect(await claimOwners(gateway.store.db, "biz_acme", ["p1"])).toHaveProperty("size", 1);
  });

  test.for<[string, NonNullable<Parameters<typeof sendOnce>[2]>, number]>([
    ["was refused by the service", { result: "rejected", status: 404 }, 0],
    ["was looked for when its window was over", { result: "unknown" }, 3_600_000],
  ])(
    "a bill whose payment %s can be ended",
    async ([_what, heard, agoMs], { gateway, operator, run }) => {
      await sent(gateway, run, "p1", heard, agoMs);
      if (heard.result === "unknown") {
        expect((await resolve(gateway, operator, "p1", "give-up")).json["error"]).toBe(
          "attempt_live",
        );
        await look(gateway, "p1");
      }
      const answer = await resolve(gateway, operator, "p1", "give-up");
      expect(answer.status).toBe(200);
      expect(await lineState(gateway.store, run.runId, "p1")).toBe("given-up");
      expect(await claimOwners(gateway.store.db, "biz_acme", ["p1"])).toHaveProperty("size", 0);
    },
  );

  test("a partly paid bill can be ended once nothing more of it can be paid", async ({
    gateway,
    operator,
    run,
  }) => {
    await sent(gateway, run, "p1", { result: "unknown" }, 900_000);
    await look(gateway, "p1", ["pmt_part"]);
    expect((await resolve(gateway, operator, "p1", "paid-elsewhere")).json["error"]).toBe(
      "attempt_live",
    );
    await sent(gateway, run, "p2", { result: "unknown" }, 3_600_000);
    await look(gateway, "p2", ["pmt_part"]);
    expect((await resolve(gateway, operator, "p2", "paid-elsewhere")).status).toBe(200);
    expect(await lineState(gateway.store, run.runId, "p2")).toBe("paid-elsewhere");
    expect(await claimOwners(gateway.store.db, "biz_acme", ["p1", "p2"])).toHaveProperty("size", 1);
  });

  test("a bill can be resolved together with all others of the same reason", async ({
    gateway,
    operator,
    run,
  }) => {
    const answer = await gateway.call("POST", "/v1/resolutions", operator, {
      reasonCode: "R02",
      action: "give-up",
      reason: "vendor is gone",
    });
    expect(answer.status).toBe(200);
    const resolved = answer.json["resolved"] as { payableId: string }[];
    expect(resolved.map((one) => one.payableId)).toEqual(["p1", "p2"]);
    expect(answer.json["refused"]).toEqual([]);
    expect(await lineState(gateway.store, run.runId, "p3")).toBe("parked");
  });

  test("a bill that can't be resolved doesn't keep others of the same reason from being resolved", async ({
    gateway,
    operator,
    run,
  }) => {
    await sent(gateway, run, "p1");
    const answer = await gateway.call("POST", "/v1/resolutions", operator, {
      reasonCode: "R02",
      action: "paid-elsewhere",
      reason: "by check",
    });
    expect(answer.json["resolved"]).toMatchObject([{ payableId: "p2" }]);
    expect(answer.json["refused"]).toMatchObject([
      { payableId: "p1", publicId: "BILL-p1", contactName: "Vendor of p1", error: "attempt_live" },
    ]);
  });

  test("a bill that nobody approved in time waits for the next run, and for no decision", async ({
    gateway,
    operator,
    run,
  }) => {
    const reasonCode = "approval_expired";
    await setLine(gateway.store, run.runId, "p1", { state: "parked", reasonCode, reason: "late" });
    const parked = await gateway.call("GET", "/v1/payables?state=parked", operator);
    expect(parked.json["totalCount"]).toBe(2);
    const history = await gateway.call("GET", "/v1/payables/p1/history", operator);
    expect(history.json["givenBack"]).toBe(true);
    expect((await resolve(gateway, operator, "p1", "retry")).json["error"]).toBe("given_back");
    expect((await resolve(gateway, operator, "p1", "give-up")).status).toBe(200);
  });
});

test.for(["retry", "paid-elsewhere", "give-up"])(
  "%s of a bill that is not parked is refused, and the refusal says where to look",
  async (action, { gateway, operator, run }) => {
    const answer = await resolve(gateway, operator, "p4", action);
    expect(answer.status).toBe(409);
    expect(answer.json["error"]).toBe("not_parked");
    expect(answer.json["message"]).toMatch(
      /this one is awaiting-approval in .*payrun explain BILL-p4 /,
    );
    expect(await lineState(gateway.store, run.runId, "p4")).toBe("awaiting-approval");
  },
);

test("calling a bill in retry paid elsewhere is refused, and the refusal says how to prevent a second payment", async ({
  gateway,
  operator,
  run,
}) => {
  await setLine(gateway.store, run.runId, "p4", { state: "retrying", paymentIds: ["pmt_4"] });
  const { json } = await resolve(gateway, operator, "p4", "paid-elsewhere");
  expect(json["error"]).toBe("not_parked");
  expect(json["message"]).toMatch(
    /record that at the service.*payrun hold BILL-p4 puts it on hold/,
  );
});

test("a bill that no run has planned is not found", async ({ gateway, operator }) => {
  expect((await resolve(gateway, operator, "stranger", "retry")).status).toBe(404);
  for (const query of ["", "?business=acme"]) {
    const path = `/v1/payables/stranger/history${query}`;
    const history = await gateway.call("GET", path, operator);
    expect(history.status).toBe(404);
    expect(history.json["message"]).toContain("no run has planned yet has no history");
  }
});

test("a bill parked in one run and on its way in another is not resolved", async ({
  gateway,
  operator,
}) => {
  const later = await seedRun(gateway.store, { period: "2026-11-27", lines: [planLine("p1")] });
  await setLine(gateway.store, later.runId, "p1", { state: "scheduled" });
  const answer = await resolve(gateway, operator, "p1", "paid-elsewhere");
  expect(answer.status).toBe(409);
  expect(answer.json["message"]).toContain("scheduled");
});
