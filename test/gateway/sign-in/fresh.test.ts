import { expect } from "vitest";
import { createBusinessClocks } from "../../../src/actions/clocks.ts";
import { decisionRules } from "../../../src/decisions/deciding.ts";
import { takeAnyDecision } from "../../../src/decisions/take-top-up.ts";
import { listAudit } from "../../../src/store/audit/audit.ts";
import { getRun } from "../../../src/store/runs/runs.ts";
import { gatewayTest } from "../support/gateway-test.ts";
import { profile, type TestGateway } from "../support/gateway.ts";
import { planLine, type SeededRun, seedRun } from "../support/rows.ts";

const MINUTE_MS = 60_000;
const careful = profile({ signIn: { freshOverCents: 15_000 } });

const test = gatewayTest({ profiles: [careful] }).extend("run", { auto: true }, ({ gateway }) =>
  seedRun(gateway.store, { lines: [planLine("p1"), planLine("p2")] }),
);

async function decide(
  gateway: TestGateway,
  run: SeededRun,
  signedInBeforeMs: number | undefined,
  changes: { decision?: "approve" | "reject"; drop?: readonly string[] } = {},
) {
  const { store } = gateway;
  const known = await getRun(store.db, run.runId);
  if (known === undefined) throw new Error("no run");
  const nowMs = Date.now();
  const clock = await createBusinessClocks().read(careful);
  const person = { tokenId: "tok_cora", name: "cora", roles: ["controller"] };
  const deciding = {
    run: known,
    request: { decision: "approve", planHash: run.planHash, drop: [], ...changes } as const,
    principal:
      signedInBeforeMs === undefined
        ? person
        : { ...person, signedInAtMs: nowMs - signedInBeforeMs },
    ...decisionRules(careful),
    ...{ clock, nowMs },
  };
  return store.transactionOf("biz_acme", (trx) => takeAnyDecision(trx, deciding));
}

test("approving above the profile's amount requires a sign-in of the last fifteen minutes", async ({
  gateway,
  run,
}) => {
  const refused = await decide(gateway, run, 16 * MINUTE_MS);
  expect(refused).toMatchObject({ accepted: false, code: "sign_in_too_old" });
  expect(JSON.stringify(refused)).toContain("$200.00");
  const trail = await listAudit(gateway.store.db, { businessId: "biz_acme", subject: run.runId });
  expect(trail.at(-1)).toMatchObject({ action: "run.decision-refused", actor: "cora" });
  expect(await decide(gateway, run, 15 * MINUTE_MS)).toMatchObject({
    accepted: true,
    countsFor: ["p1", "p2"],
  });
});

test("smaller approvals and rejections accept any sign-in; a token needs none", async ({
  gateway,
  run,
}) => {
  expect(await decide(gateway, run, 600 * MINUTE_MS, { drop: ["p2"] })).toMatchObject({
    accepted: true,
  });
  expect(await decide(gateway, run, 600 * MINUTE_MS, { decision: "reject" })).toMatchObject({
    accepted: true,
  });
  expect(await decide(gateway, run, undefined)).toMatchObject({ accepted: true });
});
