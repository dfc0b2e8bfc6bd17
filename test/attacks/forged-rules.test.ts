import { sql } from "kysely";
import { expect } from "vitest";
import type { Store } from "../../src/store/index.ts";
import { gatewayTest } from "../gateway/support/gateway-test.ts";
import { storePlaybook } from "../support/stored-playbook.ts";

const test = gatewayTest();

const TEXT = "kind: pay-run\napprove: [{ by: [owner], quorum: 2 }]\n";

const inRules = (from: string, to: string) => sql<string>`replace(compiled, ${from}, ${to})`;

test.for<[string, (store: Store) => Promise<unknown>]>([
  [
    "whose rules were changed under the same text",
    ({ db }) =>
      db
        .updateTable("playbooks")
        .set({ compiled: inRules('"quorum":2', '"quorum":1') as never })
        .execute(),
  ],
  [
    "whose rules name another role under the same text",
    ({ db }) =>
      db
        .updateTable("playbooks")
        .set({ compiled: inRules('"owner"', '"viewer"') as never })
        .execute(),
  ],
  [
    "of a revision that nobody has applied",
    async ({ db }) => {
      const [row] = await db.selectFrom("playbooks").selectAll().execute();
      if (row === undefined) throw new Error("no playbook");
      await db
        .insertInto("playbooks")
        .values({ ...row, revision: row.revision + 1 })
        .execute();
    },
  ],
])("a playbook %s launches nothing and pays no single bill", async ([, tamper], { gateway }) => {
  await storePlaybook(gateway.store, { name: "weekly", text: TEXT });
  await tamper(gateway.store);
  const lena = await gateway.token("lena", ["launcher"]);
  for (const [path, body] of [
    ["/v1/runs", { playbook: "weekly", period: "2026-12-01" }],
    ["/v1/off-cycle", { playbook: "weekly", payables: ["p1"] }],
  ] as const) {
    const answer = await gateway.call("POST", path, lena, body);
    expect(answer).toMatchObject({ status: 409, json: { error: "trail_differs" } });
    expect(answer.json["message"]).toContain("“weekly” was changed in the store");
  }
  expect(await gateway.store.db.selectFrom("runs").selectAll().execute()).toEqual([]);
});
