import { expect, test } from "vitest";
import type { BusinessProfile } from "../../src/config/business-profile.ts";
import { notifyOfMissedRuns } from "../../src/janitor/missed-runs.ts";
import { appendAudit } from "../../src/store/audit/audit.ts";
import type { Store } from "../../src/store/index.ts";
import { listNotices } from "../../src/store/notices/notices.ts";
import { upsertRun } from "../../src/store/runs/runs.ts";
import { newRun } from "../store/fixtures.ts";
import { testStore } from "../store/support.ts";
import { storePlaybook } from "../support/stored-playbook.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TEN = Date.parse("2026-11-05T15:00:00Z");

const DAILY = `kind: pay-run
select: { due: within 30 days }
schedule: { every: day, at: "10:00", catchUp: 0 days }
approve: [{ by: [controller] }]
`;

const ACME: BusinessProfile = {
  name: "acme",
  apiUrl: "https://payments.example.com",
  businessId: "biz_1",
  token: { kind: "value", value: "t" },
  webhookSecrets: [],
  sandbox: false,
};

async function scheduled(text = DAILY): Promise<Store> {
  const { store } = await testStore();
  await storePlaybook(store, { name: "daily", text }, TEN - HOUR_MS, "biz_1");
  return store;
}

async function told(store: Store, nowMs: number, profile = ACME) {
  const log = { info: () => {}, warn: () => {} };
  await notifyOfMissedRuns({ store, log }, profile, nowMs);
  return listNotices(store.db, { kind: "run-missed", limit: 10 });
}

/** The periods of the runs that were told as missed, the first one first. */
async function toldPeriods(store: Store, nowMs: number): Promise<string[]> {
  const notices = await told(store, nowMs);
  return notices.map(({ data }) => String(data["period"])).toSorted((a, b) => (a < b ? -1 : 1));
}

test.for([false, true])(
  "operators are notified once of a missed run, with its reason and a command (sandbox: %s)",
  async (sandbox) => {
    const store = await scheduled();
    const profile = { ...ACME, sandbox };
    expect(await told(store, TEN + HOUR_MS / 2, profile)).toEqual([]);
    for (const laterMs of [HOUR_MS + 1, 2 * HOUR_MS]) {
      expect(await told(store, TEN + laterMs, profile)).toMatchObject([
        {
          roles: ["operator"],
          subject: "daily 2026-11-05: the run was missed",
          text: expect.stringMatching(
            /more than catchUp: 0 days allows[^]*payrun launch daily --period 2026-11-05/,
          ),
        },
      ]);
    }
  },
);

test("each of several runs that were missed one after the other is told once", async () => {
  const store = await scheduled();
  const missed = ["2026-11-05", "2026-11-06", "2026-11-07"];
  expect(await toldPeriods(store, TEN + 3 * DAY_MS + HOUR_MS / 2)).toEqual(missed);
  expect(await toldPeriods(store, TEN + 3 * DAY_MS + 2 * HOUR_MS)).toEqual([
    ...missed,
    "2026-11-08",
  ]);
});

test("missed runs are told also if the next one has begun by then", async () => {
  const store = await scheduled();
  await upsertRun(store.db, newRun({ playbook: "daily", period: "2026-11-07" }));
  expect(await toldPeriods(store, TEN + 2.5 * DAY_MS)).toEqual(["2026-11-05", "2026-11-06"]);
});

test("runs that were missed before others that began in time are history", async () => {
  const store = await scheduled();
  for (const period of ["2026-11-06", "2026-11-07"]) {
    await upsertRun(store.db, newRun({ playbook: "daily", period }));
  }
  expect(await told(store, TEN + 2.5 * DAY_MS)).toEqual([]);
});

test("a run that may still begin within catchUp, or that somebody has launched, was not missed", async () => {
  const store = await scheduled(DAILY.replace("catchUp: 0", "catchUp: 2"));
  expect(await told(store, TEN + 20 * HOUR_MS)).toEqual([]);
  const other = await scheduled();
  await upsertRun(other.db, newRun({ playbook: "daily", period: "2026-11-05" }));
  expect(await told(other, TEN + 2 * HOUR_MS)).toEqual([]);
});

test("a run whose time passed while its schedule was paused was not missed", async () => {
  const store = await scheduled();
  const acts = [
    ["schedule.paused", TEN - 1_000],
    ["schedule.resumed", TEN + HOUR_MS],
  ] as const;
  for (const [action, nowMs] of acts) {
    await store.transactionOf("biz_1", (trx) =>
      appendAudit(trx, {
        ...{ businessId: "biz_1", nowMs, actor: "ada", action, subject: "daily", details: {} },
      }),
    );
  }
  expect(await told(store, TEN + 2 * HOUR_MS)).toEqual([]);
});
