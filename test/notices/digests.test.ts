import { appendAudit, recordedEnd } from "../../src/store/audit/audit.ts";
import { expect, test } from "vitest";
import type { BusinessProfile } from "../../src/config/business-profile.ts";
import type { PayRunPlaybook } from "../../src/contracts/playbook.ts";
import { raiseDigests } from "../../src/notices/digests.ts";
import type { Store } from "../../src/store/index.ts";
import { listNotices } from "../../src/store/notices/notices.ts";
import { applyPlaybook } from "../../src/store/playbooks/playbooks.ts";
import { upsertRun } from "../../src/store/runs/runs.ts";
import { newRun, policy } from "../store/fixtures.ts";
import { desk } from "./support.ts";

const apply = (store: Store, compiled: PayRunPlaybook) =>
  store.transaction((trx) =>
    applyPlaybook(trx, {
      name: compiled.name,
      kind: compiled.kind,
      text: JSON.stringify(compiled),
      compiled,
      business: compiled.business ?? "acme",
      author: "ada",
      authorTokenId: null,
      nowMs: 1,
    }),
  );

test("a playbook's digest comes once a day by the business clock while there are runs to report", async () => {
  const { store, profile } = await desk(undefined);
  await apply(store, {
    ...policy,
    business: "acme",
    notify: { people: "by-role", digest: "daily" },
  });
  await apply(store, { ...policy, name: "monthly" });
  const theirs = { business: "beta", notify: { people: "by-role", digest: "daily" } } as const;
  await apply(store, { ...policy, ...theirs, name: "a-business-out-of-reach" });
  // Before today's time, so the previous banking day's digest is due first.
  let businessMs = Date.parse("2026-11-19T12:30:00Z");
  const context = {
    store,
    profiles: { all: () => [profile, { ...profile, name: "beta", businessId: "biz_2" }] },
    clocks: {
      read: ({ name }: BusinessProfile) =>
        name === "beta"
          ? Promise.reject(new Error("its service is down"))
          : Promise.resolve({ businessMs }),
    },
    log: { warn: () => undefined },
    nowMs: Date.now,
  };
  const empty = new Set<string>();
  const digests = async () => {
    await raiseDigests(context, empty);
    await raiseDigests(context, empty);
    const notices = await listNotices(store.db, { kind: "digest", limit: 10 });
    return notices.map(({ factKey }) => factKey).toSorted();
  };
  expect(await digests()).toEqual([]);
  await upsertRun(store.db, newRun({ nowMs: Date.now() }));
  // A run that begins after a digest with nothing to report waits for the next one.
  expect(await digests()).toEqual([]);
  businessMs = Date.parse("2026-11-19T13:30:00Z");
  expect(await digests()).toEqual(["weekly/2026-11-19"]);
  const [first] = await listNotices(store.db, { kind: "digest", limit: 1 });
  expect(first?.subject).toMatch(/^weekly, 2026-11-19: /);
  const entry = { businessId: "biz_1", nowMs: 1, actor: "ada", action: "a", subject: "s" };
  await store.transaction((trx) => appendAudit(trx, { ...entry, details: {} }));
  businessMs = Date.parse("2026-11-20T13:30:00Z");
  expect(await digests()).toEqual(["weekly/2026-11-19", "weekly/2026-11-20"]);
  const end = await recordedEnd(store.db, "biz_1");
  const [next] = await listNotices(store.db, { kind: "digest", limit: 1 });
  expect(next?.text).toContain(`payrun audit verify --head ${end?.hash}`);
});
