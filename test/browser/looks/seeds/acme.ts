import { appendAudit } from "../../../../src/store/audit/audit.ts";
import { openIncident } from "../../../../src/store/incidents/incidents.ts";
import { setRunPhase } from "../../../../src/store/runs/runs.ts";
import { endWithExceptions, seedCancellation } from "../../../console/support/cancellation.ts";
import { seedDeposit } from "../../../console/support/deposit.ts";
import { seedWeekly } from "../../../console/support/weekly-run.ts";
import type { TestGateway } from "../../../gateway/support/gateway.ts";
import { planLine, seedRun, type SeededRun, setLine } from "../../../gateway/support/rows.ts";

export interface Acme {
  /** Waits for approval. */
  readonly run: SeededRun;
  /** Is being paid; its vendors' names contain no space. */
  readonly paying: SeededRun;
  readonly holdId: string;
  readonly cancellation: string;
  readonly deposit: string;
}

export async function seedAcme(gateway: TestGateway): Promise<Acme> {
  const { store } = gateway;
  const run = await seedWeekly(store);
  const paying = await seedRun(store, {
    ...{ period: "2026-11-13", launchedBy: "lou", author: "ada" },
    lines: ["0001", "0002", "0003", "0004"].map((no) =>
      planLine(`pbl_old_${no}`, {
        ...{ contactName: `Vendor${no}WithoutASpace`.repeat(5), executionDate: "2026-11-20" },
      }),
    ),
  });
  await setRunPhase(store.db, paying.runId, { phase: "paying" });
  for (const [payableId, change] of [
    ["pbl_old_0001", { state: "parked", reasonCode: "R02", reason: "R02: account closed." }],
    ["pbl_old_0002", { state: "scheduled", paymentIds: ["pay_1"] }],
    ["pbl_old_0003", { state: "settled", paymentIds: ["pay_2"] }],
    ["pbl_old_0004", { state: "processing", paymentIds: ["pay_3"] }],
  ] as const) {
    await setLine(store, paying.runId, payableId, change);
  }
  // Names as long as the service's and Temporal's.
  await store.transaction((trx) =>
    appendAudit(trx, {
      ...{ businessId: "biz_acme", subject: "pbl_old_0001", action: "line:parked", nowMs: 1 },
      ...{ actor: `retry-failed-payment/acme/pbl_${"2938".repeat(8)}`, details: {} },
    }),
  );
  const token = await gateway.token("olga", ["operator", "admin"]);
  const held = await gateway.call("POST", "/v1/holds", token, {
    ...{ contactId: "con_2", reason: "Dispute about the last delivery", business: "acme" },
  });
  const deposit = "h".repeat(64);
  await seedDeposit(store, { run, owner: run.runId, hash: deposit });
  await store.transaction((trx) =>
    openIncident(trx, {
      ...{ businessId: "biz_acme", business: "acme", sourceId: "bank_1", code: "R01" },
      ...{ workflowId: "funding-incident/acme/bank_1", reason: "Insufficient funds" },
      ...{ roles: ["owner"], nowMs: Date.now(), failedAtMs: Date.now() },
    }),
  );
  const cancellation = await seedCancellation(store, ["pbl_0101", "pbl_0102"]);
  await endWithExceptions(store, cancellation);
  return { run, paying, deposit, holdId: String(held.json["id"]), cancellation };
}
