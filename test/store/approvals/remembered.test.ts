import { expect, test } from "vitest";
import type { DecidedBefore } from "../../../src/domain/planning/decided-before.ts";
import { waitingBills } from "../../../src/store/approvals/approval-waits.ts";
import { decidedBefore, refusedBills } from "../../../src/store/approvals/decided-before.ts";
import { recordDecision } from "../../../src/store/approvals/decisions.ts";
import { lineApproved } from "../../../src/store/approvals/line-approvals.ts";
import { createToken } from "../../../src/store/approvals/tokens.ts";
import { noteUse } from "../../../src/store/approvals/uses.ts";
import { linesFlagged } from "../../../src/store/lines/flagged-lines.ts";
import { changeLine } from "../../../src/store/lines/lines.ts";
import { approval, approvedRun, hashedLine } from "../approved-run.ts";
import { testStore } from "../support.ts";

const said = (before: DecidedBefore, id: string) => {
  const { refusals = [], approvals = [] } = before.get(id) ?? {};
  return { refusals: refusals.map(({ how, comment }) => `${how}: ${comment}`), approvals };
};

test("a bill's rejection and its being left out are remembered until a later approval; a pair is with the approval that named it", async () => {
  const { store } = await testStore();
  const flags = [{ kind: "likely-duplicate" as const, text: "…", twins: ["p9"] }];
  const first = await approvedRun(store, "first", ["p1", "p2", "p3"], { flags });
  const look = () => decidedBefore(store.db, "biz_1", { planned: ["p1", "p2"], compared: ["p3"] });
  expect(said(await look(), "p3")).toEqual({
    refusals: [],
    approvals: [{ atMs: 2, twins: ["p9"] }],
  });
  const drop = { ...approval(first, "dora", []), dropped: ["p2"], comment: "not ours" };
  await store.transaction((trx) => recordDecision(trx, { ...drop, decidedAtMs: 3 }));
  expect(said(await look(), "p2").refusals).toEqual(["left out: not ours"]);
  expect((await refusedBills(store.db, "biz_1", 0)).all).toEqual(new Set(["p2"]));
  expect(said(await look(), "p1").refusals).toEqual([]);
  const reject = { ...approval(first, "dora", []), decision: "reject" as const, comment: "FRAUD" };
  await store.transaction((trx) => recordDecision(trx, { ...reject, decidedAtMs: 4 }));
  expect(said(await look(), "p1").refusals).toEqual(["rejected: FRAUD"]);
  expect(said(await look(), "p2").refusals).toEqual(["rejected: FRAUD", "left out: not ours"]);
  expect(said(await look(), "p3").approvals).toEqual([]);
  const refused = (businessId: string, recentMs: number) =>
    refusedBills(store.db, businessId, recentMs);
  expect(await refused("biz_1", 4)).toEqual({
    all: new Set(["p1", "p2", "p3"]),
    recent: new Set(["p1", "p2", "p3"]),
  });
  expect((await refused("biz_1", 5)).recent).toEqual(new Set());
  expect((await refused("biz_2", 0)).all).toEqual(new Set());
  expect((await decidedBefore(store.db, "biz_2", { planned: ["p1"], compared: [] })).size).toBe(0);
  await store.db.deleteFrom("claims").execute();
  await approvedRun(store, "second", ["p1"]);
  // That approval is older than the rejection.
  expect(said(await look(), "p1").refusals).toEqual(["rejected: FRAUD"]);
  await store.db
    .updateTable("decisions")
    .set({ decided_at_ms: 9 })
    .where("run_id", "like", "%second%")
    .execute();
  expect(said(await look(), "p1")).toEqual({ refusals: [], approvals: [{ atMs: 9, twins: [] }] });
});

test("the waiting bills with a flag are found by it, and a hurried approval leaves a line one person short, even if it is given again", async () => {
  const { store } = await testStore();
  const flags = [{ kind: "rejected-before" as const, text: 'Rejected: “{"kind":"late"”.' }];
  const runId = await approvedRun(store, "weekly", ["p1"], { flags });
  await changeLine(store.db, { runId, payableId: "p1" }, { state: "awaiting-approval" }, 3);
  const flagged = await linesFlagged(store.db, runId, { kind: "rejected-before", limit: 5 });
  expect(flagged).toMatchObject({ count: 1, first: [{ payableId: "p1" }] });
  expect((await linesFlagged(store.db, runId, { kind: "late", limit: 5 })).count).toBe(0);
  const line = hashedLine("p1", { flags });
  const at = { runId, ...line };
  expect(await lineApproved(store.db, at, 5)).toBe(true);
  const give = (principal: string, hurried: boolean) =>
    store.transaction((trx) =>
      recordDecision(trx, { ...approval(runId, principal, [line]), hurried }),
    );
  await give("carol", true);
  expect(await lineApproved(store.db, at, 5)).toBe(false);
  await give("carol", false);
  expect(await lineApproved(store.db, at, 5)).toBe(false);
  const waiting = await waitingBills(store.db, { runId, businessMs: 5 });
  expect(waiting).toMatchObject([{ given: 1, isHurried: true }]);
  await give("dora", true);
  expect(await lineApproved(store.db, at, 5)).toBe(true);
});

test("the first use of a person's tokens from an address is told once, whichever token it is", async () => {
  const { store } = await testStore();
  const told: string[] = [];
  const make = (name: string) =>
    createToken(store, { name, roles: ["controller"], createdBy: "Ada", nowMs: 1 });
  const use = ({ tokenId }: { tokenId: string }, address: string) =>
    noteUse(
      store,
      { id: tokenId, name: "" },
      {
        ...{ address, nowMs: 2 },
        onNewAddress: async (_, token) => void told.push(`${token.principal} ${address}`),
      },
    );
  const [one, two, other] = [await make("Lena"), await make("LENA"), await make("Otto")];
  for (const token of [one, one, two, other]) await use(token, "10.0.0.1");
  await use(two, "10.0.0.2");
  await use({ tokenId: "ses_of_an_identity" }, "10.0.0.3");
  expect(told).toEqual(["lena 10.0.0.1", "otto 10.0.0.1", "lena 10.0.0.2"]);
});
