import type { FailureRule } from "../../../../src/contracts/playbook.ts";
import { openIncident } from "../../../../src/store/incidents/incidents.ts";
import { setRunPhase } from "../../../../src/store/runs/runs.ts";
import { storeReplannedLines } from "../../../../src/store/plans/replan-writes.ts";
import { getPlanLine } from "../../../../src/store/lines/plan-lines.ts";
import { keepRetryCase } from "../../../../src/store/lines/retry-cases.ts";
import { upsertRetry } from "../../../../src/store/retries/retries.ts";
import type { Store } from "../../../../src/store/index.ts";
import type { TestGateway } from "../../../gateway/support/gateway.ts";
import { planLine, seedRun, type SeededRun, setLine } from "../../../gateway/support/rows.ts";

export interface Umbrella {
  /** Its bills are with the service, waiting, or need a person. */
  readonly paying: SeededRun;
  /** One of its bills has another amount than at first. */
  readonly replanned: SeededRun;
  readonly holdIds: readonly string[];
}

const UMBRELLA = { business: "umbrella", businessId: "biz_umbrella" };

const RULE: FailureRule = {
  ...{ codes: ["R01"], words: [], action: "retry", pause: true, payAgain: false },
  ...{ when: null, atMost: 2, by: ["owner"] },
};

const VENDORS = ["Osprey Robotics", "Castellan Steel", "Foxglove Freight", "Old Quarry Tea"];

/** Creates a business that is paying. */
export async function seedUmbrella(gateway: TestGateway): Promise<Umbrella> {
  const { store } = gateway;
  const paying = await seedRun(store, {
    ...{ ...UMBRELLA, launchedBy: "lou", author: "ada" },
    lines: Array.from({ length: 16 }, (_, no) =>
      planLine(`pbl_u_${no}`, {
        ...{ publicId: `BILL-0007${String(no).padStart(2, "0")}`, executionDate: "2026-11-20" },
        ...{ contactId: `con_u_${no % 4}`, contactName: VENDORS[no % 4] ?? null },
        ...{ amountCents: 218_400 + no * 77_013, totalCents: 218_400 + no * 77_013 },
      }),
    ),
  });
  await setRunPhase(store.db, paying.runId, { phase: "paying" });
  for (let no = 0; no < 16; no += 1)
    await setLine(store, paying.runId, `pbl_u_${no}`, standing(no));
  await bounce(store, paying);
  return { paying, replanned: await replan(store), holdIds: await hold(gateway) };
}

function standing(no: number): Parameters<typeof setLine>[3] {
  const paymentIds = [`pay_u_${no}`];
  if (no < 4) return { state: "scheduled", paymentIds };
  if (no < 6) return { state: "settled", paymentIds };
  if (no < 8) return { state: "planned" };
  if (no < 12) return { state: "parked", reasonCode: "R02", reason: "R02: account closed." };
  if (no < 14)
    return {
      state: "parked",
      reasonCode: "partly_paid",
      reason: "$400.00 of it was paid, and $1,024.55 is owed still.",
    };
  return { state: "retrying", reasonCode: "R01", reason: "R01: insufficient funds.", paymentIds };
}

/** Makes two bills wait for one decision about the account that they were paid from. */
async function bounce(store: Store, run: SeededRun): Promise<void> {
  const nowMs = Date.now();
  const account = { businessId: UMBRELLA.businessId, sourceId: "bank_1" };
  await store.transaction((trx) =>
    openIncident(trx, {
      ...{ ...account, business: "umbrella", code: "R01", reason: "Insufficient funds" },
      ...{ workflowId: "funding-incident/umbrella/bank_1", roles: ["owner"] },
      ...{ nowMs, failedAtMs: nowMs },
    }),
  );
  for (const no of [14, 15]) {
    const key = { businessId: UMBRELLA.businessId, payableId: `pbl_u_${no}` };
    const workflowId = `retry-failed-payment/umbrella/${key.payableId}`;
    const retry = { ...key, business: "umbrella", workflowId, runId: run.runId };
    await upsertRetry(store.db, { ...retry, phase: "waiting", nowMs });
    await keepRetryCase(store.db, {
      ...{ ...key, sourceId: "bank_1", waitsFor: "incident", failedAtMs: nowMs },
      ...{ failedRealMs: nowMs, rule: RULE, giveUpAfterDays: 30, giveUpNotify: ["owner"] },
    });
  }
}

async function replan(store: Store): Promise<SeededRun> {
  const run = await seedRun(store, {
    ...{
      ...UMBRELLA,
      period: "2026-11-27",
      launchedBy: "lou",
      author: "ada",
      late: "next-business-day",
    },
    lines: ["a", "b", "c"].map((no) =>
      planLine(`pbl_r_${no}`, {
        ...{ publicId: `BILL-00090${no}`, contactName: "Castellan Steel", contactId: "con_u_1" },
        ...{ amountCents: 1_200_000, totalCents: 1_200_000, executionDate: "2026-11-27" },
      }),
    ),
  });
  const plan = await getPlanLine(store.db, run.runId, "pbl_r_a");
  if (plan === undefined) throw new Error("no line");
  const changes = { amountCents: 1_310_000, executionDate: "2026-11-30", bankLast4: "4417" };
  await store.transaction((trx) =>
    storeReplannedLines(trx, {
      runId: run.runId,
      lines: [
        {
          plan: { ...plan, ...changes, version: 2, lineHash: "anew" },
          reason: "its amount has changed",
        },
      ],
      nowMs: Date.now(),
    }),
  );
  return run;
}

async function hold(gateway: TestGateway): Promise<string[]> {
  const token = await gateway.token("ursula", ["operator", "owner", "controller"], ["umbrella"]);
  const ids: string[] = [];
  for (const target of [
    { payableId: "pbl_u_6", until: "2026-12-01" },
    { contactId: "con_u_2" },
    { playbook: "weekly" },
    { run: "pay-run/umbrella/weekly/2026-11-27" },
  ]) {
    const body = { ...target, reason: "Dispute about the last delivery", business: "umbrella" };
    const { json } = await gateway.call("POST", "/v1/holds", token, body);
    ids.push(String(json["id"]));
  }
  return ids;
}
