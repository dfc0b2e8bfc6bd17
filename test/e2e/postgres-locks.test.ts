import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunStatus } from "../../src/api/runs.ts";
import { deliver, eventBody, signed } from "../gateway/support/gateway.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import { storePlace } from "../support/store-kinds.ts";
import { STUB_POOL, StubPayrun } from "../support/stub-payrun.ts";

const playbook = (business: string, due = "all"): string => `kind: pay-run
business: ${business}
select: { due: ${due} }
pay: { on: next-business-day }
review: []
approve:
  - { by: [controller, owner] }
late: next-business-day
`;

describe.runIf(hasPostgres())("while a long transaction keeps the lock of one business", () => {
  let payrun: StubPayrun;
  let stop = async (): Promise<void> => undefined;

  beforeAll(async () => {
    const place = await storePlace("postgres");
    stop = place.stop;
    const businesses = ["acme", "globex"].map((businessId) => ({
      businessId,
      token: `${businessId}-token`,
      bills: 25,
    }));
    payrun = await StubPayrun.start(businesses, place.options);
  });
  afterAll(async () => {
    await payrun?.stop();
    await stop();
  });

  /**
   * Keeps the business's lock, and the rows of all its lines, until the returned function is
   * called.
   */
  async function lock(businessId: string): Promise<() => Promise<void>> {
    let isOver = false;
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const holding = payrun.store.transactionOf(businessId, async (trx) => {
      await trx
        .updateTable("run_lines")
        .set({ updated_at_ms: Date.now() })
        .where("business_id", "=", businessId)
        .execute();
      begin();
      // Never idle, because the server ends idle transactions.
      while (!isOver) await sql`select pg_sleep(0.1)`.execute(trx);
    });
    await Promise.race([begun, holding]);
    return async () => {
      isOver = true;
      await holding;
    };
  }

  async function event(businessId: string, id: string): Promise<number> {
    const body = eventBody({ id, objectId: "bill-1", businessId });
    const signature = signed(body, Date.now(), "whsec_none");
    return (await deliver(payrun.gatewayUrl, body, { business: businessId, signature })).status;
  }

  async function isDispatched(eventId: string): Promise<boolean> {
    const row = await payrun.store.db
      .selectFrom("inbox")
      .select("dispatched_at_ms")
      .where("event_id", "=", eventId)
      .executeTakeFirst();
    return row !== undefined && row.dispatched_at_ms !== null;
  }

  async function done(person: "operator" | "admin", method: string, path: string, body?: object) {
    const answer = await payrun.call<{ id: string }>(person, method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.id;
  }

  /** Returns the connections of the part that has the most; idle ones are kept for a while. */
  async function connections(): Promise<number> {
    const { rows } = await sql<{ most: number }>`
      select max(connections) as most from (
        select count(*) as connections from pg_stat_activity
        where datname = current_database() and application_name like 'payrun %'
          and application_name <> ${`payrun ${process.pid}`}
        group by application_name
      ) as parts`.execute(payrun.store.db);
    expect(rows[0]?.most).toBeGreaterThan(0);
    return rows[0]?.most ?? 0;
  }

  test("another business's launches, decisions, holds, webhooks and payments are not blocked", async () => {
    await payrun.apply("of-acme", playbook("acme"));
    const ofAcme = await payrun.launch("of-acme");
    const { planHash } = await payrun.untilPhase(ofAcme, "awaiting-approval");
    const unlock = await lock("acme");
    let isDecided = false;
    const path = `/v1/runs/${encodeURIComponent(ofAcme)}/decisions`;
    const deciding = payrun
      .call("controller", "POST", path, { decision: "approve", planHash })
      .finally(() => (isDecided = true));
    try {
      expect(await event("acme", "evt_acme_1")).toBe(200);
      const ofGlobex = await payrun.approvedRun("of-globex", playbook("globex"));
      const { counts } = await payrun.untilPhase(ofGlobex, "completed");
      expect(counts).toEqual({ settled: 25 });
      expect(await event("globex", "evt_globex_1")).toBe(200);
      await expect.poll(() => isDispatched("evt_globex_1")).toBe(true);
      const holdId = await done("operator", "POST", "/v1/holds", {
        all: true,
        reason: "Stop.",
        business: "globex",
      });
      await done("operator", "DELETE", `/v1/holds/${holdId}`);
      await payrun.apply("other", playbook("globex", "within 7 days"));
      const other = await payrun.launch("other");
      await done("operator", "POST", `/v1/runs/${encodeURIComponent(other)}/cancel`, {});

      // The lock is real: acme's decision and event wait, and the acknowledged event is not
      // forgotten.
      expect(isDecided).toBe(false);
      expect(await isDispatched("evt_acme_1")).toBe(false);
    } finally {
      await unlock();
    }
    expect((await deciding).status).toBe(200);
    expect(await connections()).toBeLessThanOrEqual(STUB_POOL);
    const paid: RunStatus = await payrun.untilPhase(ofAcme, "completed");
    expect(paid.counts).toEqual({ settled: 25 });
    await expect.poll(() => isDispatched("evt_acme_1")).toBe(true);
  });
});
