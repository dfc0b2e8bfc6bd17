import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Wish } from "../../src/ledger/facts.ts";
import { activeHolds } from "../../src/store/holds/holds.ts";
import { approvedRun, lease } from "../store/approved-run.ts";
import { testStore } from "../store/support.ts";

const businessId = "biz_1";

type Fields = Readonly<Record<string, unknown>>;

/** Changes the body of a request. */
function withBody(change: (fields: Fields) => Fields): (wish: Wish) => Wish {
  return (wish) => ({ ...wish, body: JSON.stringify(change(JSON.parse(wish.body) as Fields)) });
}

const OTHER_REQUESTS: Readonly<Record<string, (wish: Wish) => Wish>> = {
  "another path": (wish) => ({ ...wish, path: "/v1/balance/withdrawals" }),
  "another bill": withBody((fields) => ({ ...fields, payableId: "p2" })),
  "another amount": withBody((fields) => ({ ...fields, amountCents: 777_777 })),
  "another amount beside the approved one": (wish) => ({
    ...wish,
    body: wish.body.replace("}", ',"amountCents":777777}'),
  }),
  "an amount as a text": withBody((fields) => ({ ...fields, amountCents: "10000" })),
  "another day": withBody((fields) => ({ ...fields, scheduledAt: "2026-11-06" })),
  "another day in all its terms": (wish) => ({
    ...withBody((fields) => ({ ...fields, scheduledAt: "2026-11-06" }))(wish),
    executionDate: "2026-11-06",
  }),
  "no day": withBody(({ scheduledAt: _, ...fields }) => fields),
  "another clearing": withBody((fields) => ({ ...fields, clearing: "NEXT_AVAILABLE" })),
  "another rail": withBody((fields) => ({ ...fields, paymentRail: "PROVIDER" })),
  "another source": withBody((fields) => ({ ...fields, fundingSource: "linked_bank" })),
  "an account that the line doesn't name": withBody((fields) => ({
    ...fields,
    bankAccountId: "bank_of_a_stranger",
  })),
  "an authorization that nobody has given": withBody((fields) => ({
    ...fields,
    achAuthorizationAccepted: true,
  })),
  "a field that nobody knows": withBody((fields) => ({ ...fields, contactId: "con_2" })),
  "a body that is no JSON": (wish) => ({ ...wish, body: "amountCents=10000" }),
  "another vendor on record": (wish) => ({ ...wish, contactId: "con_2" }),
  "another owner on record": (wish) => ({ ...wish, owner: "pay-run/acme/other" }),
};

test.for(Object.entries(OTHER_REQUESTS))(
  "a request with %s is never written: people are told, and the bill is on hold",
  async ([, wish]) => {
    const { store } = await testStore();
    const runId = await approvedRun(store, "weekly", ["p1"]);
    const { closed, sent } = await lease(store, runId, { wish });
    expect({ closed, sent }).toEqual({ closed: { p1: "not_as_approved" }, sent: [] });
    expect(await store.db.selectFrom("sends").selectAll().execute()).toEqual([]);
    const holds = await activeHolds(store.db, businessId, 0);
    expect(holds).toMatchObject([{ scope: "payable", value: "p1", author: "payrun" }]);
    const notices = await store.db.selectFrom("notices").select(["kind", "roles"]).execute();
    expect(notices).toEqual([{ kind: "not-as-approved", roles: '["operator"]' }]);
    const trail = await store.db.selectFrom("audit").select("action").execute();
    expect(trail).toContainEqual({ action: "alarm:not-as-approved" });
  },
);

test("a stored line that is not what its approved hash names is never paid", async () => {
  const { store } = await testStore();
  const runId = await approvedRun(store, "weekly", ["p1"]);
  // Insert-only rows can still be changed by whoever owns the database.
  await sql`drop trigger if exists plan_lines_no_update`.execute(store.db);
  const { line } = await store.db.selectFrom("plan_lines").select("line").executeTakeFirstOrThrow();
  const changed = line.replace('"fundingSource":"balance"', '"fundingSource":"linked_bank"');
  expect(changed).not.toBe(line);
  await store.db.updateTable("plan_lines").set({ line: changed }).execute();
  expect(await lease(store, runId)).toMatchObject({ closed: { p1: "not_as_approved" }, sent: [] });
});
