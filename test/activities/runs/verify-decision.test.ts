import { beforeEach, expect, test } from "vitest";
import type { ActivityContext } from "../../../activities/shared/context.ts";
import { verifyDecision } from "../../../activities/runs/verify-decision.ts";
import type { Store } from "../../../src/store/index.ts";
import { listAudit } from "../../../src/store/audit/audit.ts";
import { planLine, seedRun, type SeededRun } from "../../gateway/support/rows.ts";
import { testStore } from "../../store/support.ts";
import { makeSigner, signDecision } from "../../support/signing.ts";
import { ClockReading } from "../../../src/business/clock.ts";

const erp = makeSigner();

let store: Store;
let run: SeededRun;
let outcomes: string[];
beforeEach(async () => {
  outcomes = [];
  ({ store } = await testStore());
  run = await seedRun(store, { launchedBy: "lou", author: "ada", lines: [planLine("p1")] });
});

function verify(claim: unknown, runId = run.runId): ReturnType<typeof verifyDecision> {
  const clock = new ClockReading({ businessMs: Date.now() });
  const context = {
    store,
    profileOf: () => ({ signers: [erp] }),
    clockOf: () => ({ now: () => Promise.resolve(clock) }),
    countDecision: (outcome: string) => outcomes.push(outcome),
  } as unknown as ActivityContext;
  return verifyDecision(context, { runId, claim });
}

const sign = (claims: object = {}): string =>
  signDecision(erp, { sub: run.runId, planHash: run.planHash, ...claims });

async function refusals(): Promise<unknown[]> {
  const trail = await listAudit(store.db, { businessId: "biz_acme", subject: run.runId });
  return trail
    .filter(({ action }) => action === "run.decision-refused")
    .map(({ details }) => details["code"]);
}

test.each([undefined, null, 7, ["a.b.c"], { signed: "a.b.c" }, ""])(
  "%s is refused as no decision, with a reason and an entry in the trail",
  async (claim) => {
    expect(await verify(claim)).toEqual({
      ...{ accepted: false, code: "malformed" },
      message: expect.stringContaining("not a signed decision"),
    });
    expect(await refusals()).toEqual(["malformed"]);
  },
);

test("a decision that comes again gets the first result as data, and another with its id is refused with how the first was judged", async () => {
  const good = sign({ jti: "d-1" });
  const taken = await verify(good);
  expect(taken).toEqual({
    ...{ accepted: true, code: null, decision: "approve", countsForCount: 1, dropped: [] },
    message: "it counts for 1 bill and leaves out 0 bills",
  });
  const again = await verify(good);
  expect(again).toEqual({ ...taken, alreadySince: expect.stringMatching(/^\d{4}-.*Z$/) });
  const stale = sign({ planHash: "f".repeat(64) });
  const first = await verify(stale);
  expect(first).toEqual({
    ...{ accepted: false, code: "stale_plan" },
    message: expect.stringContaining("has changed"),
  });
  expect(await verify(stale)).toEqual(first);
  expect(await refusals()).toEqual(["stale_plan"]);
  expect(await verify(sign({ jti: "d-1", decision: "reject" }))).toEqual({
    ...{ accepted: false, code: "replayed" },
    earlier: {
      ...{ outcome: "accepted", reason: null },
      decidedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    },
    message: expect.stringContaining("was taken before"),
  });
});

test("a decision for a run that the store doesn't have is refused with a code", async () => {
  expect(await verify(sign(), "pay-run/acme/weekly/2020-01-02")).toMatchObject({
    ...{ accepted: false, code: "not_found" },
  });
});

test("each decision sent to Temporal is counted by its outcome", async () => {
  const good = sign({ jti: "d-1" });
  for (const claim of [good, good, sign({ planHash: "f".repeat(64) }), "no decision"]) {
    await verify(claim);
  }
  expect(outcomes).toEqual(["accepted", "accepted", "stale_plan", "malformed"]);
});

test("a run takes 200 decisions from Temporal, whatever its workflow has counted; the trail says so once", async () => {
  await store.db.updateTable("runs").set({ decisions_sent: 198 }).execute();
  for (const claim of ["199th", "200th", "201st", sign()]) await verify(claim);
  expect(await refusals()).toEqual(["malformed", "malformed"]);
  const trail = await listAudit(store.db, { businessId: "biz_acme", subject: run.runId });
  const since = trail.filter(({ action }) => action.startsWith("run.decision"));
  expect(since.map(({ action, details }) => [action, details["read"]])).toEqual([
    ["run.decision-refused", undefined],
    ["run.decisions-unread", 200],
    ["run.decision-refused", undefined],
  ]);
  expect(await verify(sign())).toEqual({
    ...{ accepted: false, code: "too_many_decisions" },
    message: expect.stringContaining("send them to the gateway"),
  });
});
