import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PAYRUN } from "../../../src/contracts/authors.ts";
import { fact, news, text, toOperators, wakeWorkflow } from "../../../src/domain/facts/fact.ts";
import { listAudit } from "../../../src/store/audit/audit.ts";
import { record } from "../../../src/store/facts/record.ts";
import { listNotices } from "../../../src/store/notices/notices.ts";
import { oldestPendingSignals } from "../../../src/store/signals/pending-signals.ts";
import { testStore } from "../support.ts";

const businessId = "biz_1";
const HEAD = { businessId, nowMs: 1_000, by: PAYRUN, subject: "thing_1" };

const told = toOperators("step-failed", ({ word }: { readonly word: string }) => ({
  factKey: word,
  subject: `It is ${word}`,
  text: "Look at it.",
  data: {},
}));
const happened = fact(
  "thing.happened",
  { word: text },
  {
    notifies: told,
    wakes: ({ subject }) => [wakeWorkflow(subject)],
  },
);
const happenedOnce = fact("thing.once", { word: text }, { notifies: told, once: true });

async function written() {
  const { store } = await testStore();
  const read = async () => ({
    entries: (await listAudit(store.db, { businessId })).map(({ action, details }) => ({
      action,
      details,
    })),
    notices: (await listNotices(store.db, { limit: 10 })).map(({ subject, roles }) => ({
      subject,
      roles,
    })),
    signals: (await oldestPendingSignals(store.db, 10)).map(({ workflowId }) => workflowId),
  });
  return { store, read };
}

test("a fact is written as an entry, a notice and the signals to the workflows that it concerns", async () => {
  const { store, read } = await written();
  await store.transaction((trx) => record(trx, happened(HEAD, { word: "new" })));
  expect(await read()).toEqual({
    entries: [{ action: "thing.happened", details: { word: "new" } }],
    notices: [{ subject: "It is new", roles: ["operator"] }],
    signals: ["thing_1"],
  });
});

test("nothing of a fact is written if its transaction fails", async () => {
  const { store, read } = await written();
  const failing = store.transaction(async (trx) => {
    await record(trx, happened(HEAD, { word: "new" }));
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(await read()).toEqual({ entries: [], notices: [], signals: [] });
});

test("a fact that counts only as news is in the trail once, however often it is recorded", async () => {
  const { store, read } = await written();
  const isNews = [];
  for (const word of ["new", "new", "other"]) {
    isNews.push(await store.transaction((trx) => record(trx, happenedOnce(HEAD, { word }))));
  }
  expect(isNews).toEqual([true, false, true]);
  expect((await read()).entries.map(({ details }) => details)).toEqual([
    { word: "new" },
    { word: "other" },
  ]);
});

test("news that only people must know are no entry, and wake nothing", async () => {
  const { store, read } = await written();
  await record(store.db, news(told)({ businessId, nowMs: 1_000 }, { word: "new" }));
  expect(await read()).toMatchObject({ entries: [], notices: [{}], signals: [] });
});

/** What `record` alone calls. */
const WRITERS = /\b(?:appendAudit|appendAuditEntries|appendOfLines|raiseNotice|signalOnCommit)\(/;

/** Where the writers themselves are. */
const THEIRS = [
  "src/store/audit/audit.ts",
  "src/store/audit/audit-lines.ts",
  "src/store/facts/record.ts",
  "src/store/notices/notices.ts",
  "src/store/signals/pending-signals.ts",
];

/** Facts about cancellations, deposits and what came of a payment's request. */
const BESIDE = /^(?:activities|src\/store)\/(?:cancel|cancellations|deposit|deposits|pay)\//;

test("nothing but record writes the trail, notices and pending signals", () => {
  const root = new URL("../../../", import.meta.url);
  const files = globSync("{src,activities,workflows}/**/*.ts", { cwd: root });
  expect(files.length).toBeGreaterThan(500);
  const callers = files
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => WRITERS.test(readFileSync(new URL(file, root), "utf8")));
  expect(callers.filter((file) => !THEIRS.includes(file) && !BESIDE.test(file))).toEqual([]);
});
