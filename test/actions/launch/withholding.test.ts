import { describe, expect, test } from "vitest";
import { cancelOfPayments } from "../../../src/domain/cancellations/policy.ts";
import {
  cancellationsLike,
  getCancellation,
  insertCancellation,
} from "../../../src/store/cancellations/cancellations.ts";
import type { Answer } from "../../gateway/support/gateway.ts";
import { useLaunches } from "../../gateway/support/launches.ts";

const scene = useLaunches();

describe("launching a hold", () => {
  async function store(name: string, choose: string): Promise<Answer> {
    const text = `kind: hold\nchoose: { ${choose} }\n`;
    const admin = await scene.on.gateway.token(`ada-${name}`, ["admin"]);
    return scene.on.gateway.call("POST", "/v1/playbooks", admin, { name, text });
  }

  test("a hold on runs of a playbook that isn't stored is refused, and storing the hold warns of it", async () => {
    const stored = await store("typo", "run: weekli");
    expect(stored.json["note"]).toMatch(/“weekli”, and no pay-run playbook of that name/);
    const answer = await scene.launch({ playbook: "typo" });
    expect(answer).toMatchObject({ status: 422, json: { error: "unknown_playbook" } });
    expect((await store("right", "run: weekly")).json["note"]).toBeUndefined();
    expect((await scene.launch({ playbook: "right" })).json["error"]).toBe("no_open_run");
  });

  test("a hold of the run's next revision counts as a different request", async () => {
    await scene.launch({ period: "2026-02-05" });
    await store("hold-all", "run: weekly");
    const beginning = "cancel-scheduled-payments/acme/hold-all/weekly/2026-02-05";
    const policy = { ...cancelOfPayments([]), name: "hold-all" };
    const { db } = scene.on.gateway.store;
    for (const workflowId of [`${beginning}/r2`, `${beginning}/rest`]) {
      await scene.on.gateway.store.transaction((trx) =>
        insertCancellation(trx, {
          ...{ workflowId, businessId: "biz_acme", business: "acme", playbook: "hold-all" },
          ...{ policy, runId: null, reason: "another", requestedBy: "lou", nowMs: 1 },
        }),
      );
    }
    expect((await scene.launch({ playbook: "hold-all" })).json["id"]).toBe(beginning);
    const like = await cancellationsLike(db, beginning);
    expect(like.map(({ workflowId }) => workflowId)).toEqual([`${beginning}/r2`, beginning]);
  });

  test("a hold is joined with its reason or none, and is refused with another reason or input", async () => {
    await scene.launch({ period: "2026-02-05" });
    await store("asked", "run: weekly");
    const launch = (inputs?: object) => scene.launch({ playbook: "asked", inputs });
    expect((await launch({ reason: "audit" })).status).toBe(201);
    expect((await launch({ reason: "audit" })).status).toBe(200);
    expect((await launch()).status).toBe(200);
    expect(await launch({ reason: "fraud" })).toMatchObject({
      status: 409,
      json: { error: "other_inputs", details: { inputs: { reason: "audit" } } },
    });
    expect(await launch({ reasons: "audit" })).toMatchObject({
      status: 422,
      json: { error: "unknown_inputs", details: { unknown: ["reasons"] } },
    });
  });

  test("a launch of a hold that names no run puts it into force on every run under way", async () => {
    for (const period of ["2026-02-05", "2026-02-12"]) await scene.launch({ period });
    await store("every", "vendor: con_1");
    const answer = await scene.launch({ playbook: "every" });
    expect(answer.json["id"]).toBe("cancel-scheduled-payments/acme/every/weekly/2026-02-12");
    const first = "cancel-scheduled-payments/acme/every/weekly/2026-02-05";
    expect(await getCancellation(scene.on.gateway.store.db, first)).toMatchObject({
      endedAtMs: null,
    });
  });
});

test("a cancellation that a playbook began is joined with its reason or none, and an onboarding takes no input", async () => {
  const { gateway } = scene.on;
  const admin = await gateway.token("ada", ["admin"]);
  for (const [name, text] of [
    ["sweep", "kind: cancel-scheduled\nchoose: { vendor: con_1 }\n"],
    ["kyb", "kind: kyb-onboarding\n"],
  ] as const) {
    expect((await gateway.call("POST", "/v1/playbooks", admin, { name, text })).status).toBe(200);
  }
  const sweep = (inputs?: object) => scene.launch({ playbook: "sweep", inputs });
  const answers = [await sweep(), await sweep(), await sweep({ reason: "fraud" })];
  expect(answers.map(({ status }) => status)).toEqual([201, 200, 409]);
  expect(answers[2]?.json).toMatchObject({ error: "other_inputs" });
  expect(await scene.launch({ playbook: "kyb", inputs: { tax: "1" } })).toMatchObject({
    status: 422,
    json: { error: "unknown_inputs" },
  });
});
