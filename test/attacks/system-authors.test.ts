import { expect } from "vitest";
import { PAYRUN, SystemAuthor, byWorkflow } from "../../src/contracts/authors.ts";
import { cancelOfPayments } from "../../src/domain/cancellations/policy.ts";
import { insertCancellation } from "../../src/store/cancellations/cancellations.ts";
import { activeHolds, createHold } from "../../src/store/holds/holds.ts";
import { gatewayTest } from "../gateway/support/gateway-test.ts";
import { planLine, seedRun } from "../gateway/support/rows.ts";

const test = gatewayTest();

const businessId = "biz_acme";
const CANCEL = "cancel-scheduled-payments/acme/account-changed/p1";

test.for([PAYRUN.name, "its end", "temporal", "events of weekly", CANCEL])(
  "a token named like the system, “%s”, lifts no hold that Payrun has set",
  async (name, { gateway }) => {
    const { store } = gateway;
    await seedRun(store, { launchedBy: "lou", author: "eve", lines: [planLine("p1")] });
    const nowMs = Date.now();
    await store.transaction((trx) =>
      insertCancellation(trx, {
        ...{ businessId, business: "acme", playbook: "", runId: null, workflowId: CANCEL, nowMs },
        ...{ policy: cancelOfPayments(["pmt_1"]), reason: "another account", requestedBy: PAYRUN },
      }),
    );
    const hold = { businessId, scope: "payable", value: "p1", reason: "another account" } as const;
    await store.transaction(async (trx) => {
      for (const author of [PAYRUN, byWorkflow(CANCEL), new SystemAuthor("events of weekly")]) {
        await createHold(trx, { ...hold, author, nowMs });
      }
    });
    const holds = await activeHolds(store.db, businessId, nowMs);
    expect(holds).toHaveLength(3);
    // Written past the check of names, as an older version could have.
    const token = await gateway.token(name, ["controller"]);
    for (const { holdId } of holds) {
      const answer = await gateway.call("DELETE", `/v1/holds/${holdId}`, token, { reason: "ok" });
      expect(answer.status).toBe(403);
    }
    const operator = await gateway.token("otto", ["operator"]);
    const all = { by: name, business: "acme" };
    await gateway.call("POST", "/v1/releases", operator, all);
    expect(await activeHolds(store.db, businessId, nowMs)).toHaveLength(3);
  },
);
