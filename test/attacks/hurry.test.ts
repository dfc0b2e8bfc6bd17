import { expect } from "vitest";
import type { HurryRule, PayRunPlaybook } from "../../src/contracts/playbook.ts";
import { addDays } from "../../src/domain/clock/dates.ts";
import { newYorkDate, newYorkInstantMs } from "../../src/domain/clock/new-york.ts";
import { listNotices } from "../../src/store/notices/notices.ts";
import { startTestGateway } from "../gateway/support/gateway.ts";
import { makeSigner, signDecision } from "../support/signing.ts";
import { getRun } from "../../src/store/runs/runs.ts";
import { type PlannedScene, REVIEWED, test } from "./planned-scene.ts";

const hurried = (rule: Partial<HurryRule>): PayRunPlaybook => ({
  ...REVIEWED,
  hurry: { underMs: null, outside: null, needsAnother: true, ...rule },
});

/** Longer than any test takes. */
const SOON = hurried({ underMs: 3_600_000 });

const noticesOf = ({ world }: PlannedScene, runId: string) =>
  listNotices(world.store.db, { runId, kind: "hurried-approval", limit: 9 });

test("an approval seconds after the plan needs another person, and giving it again is none", async ({
  scene,
}) => {
  const [cora, olga] = [
    await scene.gateway.token("Cora", ["controller"]),
    await scene.gateway.token("Olga", ["owner"]),
  ];
  const id = await scene.enter();
  const runId = await scene.plan(SOON);
  const first = await scene.decide(runId, cora);
  expect(first.json).toMatchObject({
    goesOut: { count: 0 },
    missing: [{ quorum: 2, approvals: 1 }],
  });
  await scene.decide(runId, cora, { comment: "again", verifiedBankChanges: [] });
  const second = await scene.gateway.token("Cora", ["owner"]);
  await scene.decide(runId, second);
  expect((await scene.line(runId, id)).line.state).toBe("awaiting-approval");
  const history = await scene.gateway.call("GET", `/v1/payables/${id}/history`, cora);
  expect(history.json["approvals"]).toMatchObject([
    { by: "cora", hurry: expect.stringMatching(/^\d+ seconds? after the plan$/) as string },
  ]);
  const report = `/v1/runs/${encodeURIComponent(runId)}/report`;
  expect((await scene.gateway.call("GET", report, cora)).json["decisions"]).toMatchObject({
    counted: [{ hurry: expect.stringContaining("after the plan") as string }, {}],
  });
  const [notice] = await noticesOf(scene, runId);
  expect(notice?.subject).toMatch(/Cora approved \d+ seconds? after the plan$/);
  expect(notice?.roles).toEqual(["controller", "operator", "owner"]);
  expect((await scene.decide(runId, olga)).json).toMatchObject({ goesOut: { count: 1 } });
  expect((await scene.line(runId, id)).line.state).toBe("planned");
});

test("an approval at odd hours is notified, and counts if the playbook only says notify", async ({
  scene,
}) => {
  const { control } = scene.world.sandbox;
  const tomorrow = addDays(newYorkDate(Date.parse((await control.clock()).bank)), 1);
  const atNight = new Date(newYorkInstantMs(tomorrow, "03:00")).toISOString();
  await control.setClock(atNight);
  const cora = await scene.gateway.token("Cora", ["controller"]);
  await scene.enter();
  const outside = { from: "07:00", to: "20:00" };
  const odd = await scene.plan(hurried({ outside, needsAnother: false }));
  const review = `/v1/runs/${encodeURIComponent(odd)}/review`;
  const seen = async () => String((await scene.gateway.call("GET", review, cora)).json["now"]);
  // To the hour: in UTC it may have been that day before.
  await expect.poll(seen, { timeout: 20_000 }).toContain(atNight.slice(0, 13));
  expect((await scene.decide(odd, cora)).json).toMatchObject({ goesOut: { count: 1 } });
  expect((await noticesOf(scene, odd))[0]?.subject).toContain("Cora approved at ");
  const decided = await scene.gateway.call("GET", review.replace("review", "report"), cora);
  expect(decided.json["decisions"]).toMatchObject({
    counted: [{ hurry: expect.stringMatching(/^at /) as string }],
  });
  await scene.cancel(odd);
  const day = await scene.plan(hurried({ outside: { from: "02:00", to: "04:00" } }));
  expect((await scene.decide(day, cora)).json).toMatchObject({ goesOut: { count: 1 } });
  expect(await noticesOf(scene, day)).toEqual([]);
});

test("a system that signs its decision is never too fast", async ({ scene }) => {
  const { keyId, name, roles, publicKey, ...signer } = makeSigner();
  const { folder, profile } = scene.world;
  const gateway = await startTestGateway({
    folder,
    profiles: [{ ...profile, signers: [{ keyId, name, roles, publicKey }] }],
  });
  await scene.enter();
  const runId = await scene.plan(SOON);
  const planHash = (await getRun(scene.world.store.db, runId))?.planHash;
  const signed = signDecision(
    { keyId, name, roles, publicKey, ...signer },
    { sub: runId, planHash },
  );
  const path = `/v1/runs/${encodeURIComponent(runId)}/decisions`;
  const token = await gateway.token("vera", ["viewer"]);
  expect((await gateway.call("POST", path, token, { signed })).json).toMatchObject({
    goesOut: { count: 1 },
  });
  await gateway.stop();
});
