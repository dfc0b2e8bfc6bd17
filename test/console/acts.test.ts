import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { addDays } from "../../src/domain/clock/dates.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { appendAudit } from "../../src/store/audit/audit.ts";
import { holdForLoss } from "../../src/store/janitor/behind.ts";
import { activeHolds } from "../../src/store/holds/holds.ts";
import { openIncident } from "../../src/store/incidents/incidents.ts";
import { setRunPhase } from "../../src/store/runs/runs.ts";
import { profile, startTestGateway, type TestGateway } from "../gateway/support/gateway.ts";
import { approveLines, lineState, type SeededRun, setLine } from "../gateway/support/rows.ts";
import { seedCancellation } from "./support/cancellation.ts";
import { signedIn, type Visits } from "./support/visits.ts";
import { seedWeekly } from "./support/weekly-run.ts";

let gateway: TestGateway;
let run: SeededRun;
let olga: Visits;

beforeEach(async () => {
  gateway = await startTestGateway();
  run = await seedWeekly(gateway.store);
  olga = await signedIn(gateway, "olga", ["operator", "admin"]);
});
afterEach(() => gateway.stop());

async function inForce(): Promise<string[]> {
  const holds = await activeHolds(gateway.store.db, "biz_acme", Date.now());
  return holds.map(({ scope, value, reason, author }) => `${scope} ${value} ${reason} ${author}`);
}

async function park(payableId: string, reasonCode = "R02"): Promise<void> {
  const change = { state: "parked", reasonCode, reason: "R02: account closed." } as const;
  await setLine(gateway.store, run.runId, payableId, change);
}

describe("A hold", () => {
  test("on a bill, a vendor and a run asks why, and says what it does not stop", async () => {
    const id = encodeURIComponent(run.runId);
    for (const [path, what] of [
      ["/bills/pbl_0101/hold?business=acme", "payable pbl_0101"],
      ["/vendors/con_4/hold?business=acme", "contact con_4"],
      [`/runs/${id}/hold`, `run ${run.runId}`],
    ] as const) {
      const asked = await olga.get(path);
      expect(asked.text).toContain("What was sent already is not stopped");
      const silent = await olga.send(asked, path, { reason: "" });
      expect(silent.status).toBe(422);
      expect(silent.text).toContain("Say why");
      const done = await olga.send(silent, path, { reason: "looks forged" });
      expect(done.status).toBe(200);
      expect(await inForce()).toContain(`${what} looks forged olga`);
    }
  });

  test("of everything stands on each page, and is stopped with one form", async () => {
    const asked = await olga.get("/emergency");
    const done = await olga.send(asked, "/emergency/stop", { reason: "odd debits" });
    expect(done.text).toContain("Everything is stopped");
    expect(await inForce()).toEqual(["all  odd debits olga"]);
    for (const path of ["/", "/holds", "/needs-action", "/reports", "/emergency"]) {
      expect((await olga.get(path)).text, path).toMatch(/Everything is on hold odd debits — olga/);
    }
    expect((await olga.get("/emergency")).text).toContain("nothing new is sent");
  });

  test("of everything in several businesses is one banner, which says of which", async () => {
    await gateway.stop();
    const profiles = ["acme", "borough", "cobalt"].map((name) =>
      profile({ name, businessId: `biz_${name}` }),
    );
    gateway = await startTestGateway({ profiles });
    olga = await signedIn(gateway, "olga", ["operator"]);
    const asked = await olga.get("/emergency");
    await olga.send(asked, "/emergency/stop", { reason: "odd debits" });
    const shown = (await olga.get("/")).text;
    expect(shown.match(/Everything is on hold/g)).toHaveLength(1);
    expect(shown).toContain("Everything is on hold in all 3 businesses odd debits — olga");
  });

  test("is shown by vendor, number and sum, and its times in the zone that the profile names", async () => {
    await gateway.stop();
    gateway = await startTestGateway({ profiles: [profile({ zone: "America/Chicago" })] });
    run = await seedWeekly(gateway.store);
    olga = await signedIn(gateway, "olga", ["operator"]);
    const token = await gateway.token("oli", ["operator"]);
    const hold = (body: object) => gateway.call("POST", "/v1/holds", token, body);
    const until = addDays(newYorkDate(Date.now()), 30);
    await hold({ payableId: "pbl_0101", reason: "disputed", until });
    await hold({ contactId: "con_4", reason: "looks forged" });
    const { text } = await olga.get("/holds");
    expect(text).toMatch(/Harbor Street Bakery Bill BILL-000101, \$[\d,.]+/);
    expect(text).toContain("Northwind Freight Every bill of the vendor");
    expect(text).toMatch(/\d+:\d\d [AP]M Chicago/);
    expect(text).not.toMatch(/pbl_|con_|New York/);
  });

  test("is released with all others of one person at once, after a look at what goes out", async () => {
    const cora = await signedIn(gateway, "cora", ["controller"]);
    await approveLines(gateway.store, run, ["pbl_0102"]);
    await setLine(gateway.store, run.runId, "pbl_0102", { state: "on-hold" });
    for (const bill of ["pbl_0101", "pbl_0102"]) {
      const path = `/bills/${bill}/hold?business=acme`;
      await cora.send(await cora.get(path), path, { reason: "a call is open" });
    }
    const path = "/bills/pbl_0103/hold?business=acme";
    await olga.send(await olga.get(path), path, { reason: "mine" });
    const look = await cora.get("/holds/release-all?by=cora");
    expect(look.text).toMatch(/2 holds 1 bill of \$[\d,.]+ goes out then/);
    expect(await inForce()).toHaveLength(3);
    // A third one that she sets meanwhile was not looked at.
    const third = "/bills/pbl_0104/hold?business=acme";
    await cora.send(await cora.get(third), third, { reason: "looks forged" });
    const stale = await cora.send(look, "/holds/release-all");
    expect(stale.status).toBe(409);
    expect(stale.text).toContain("Nothing was released");
    expect(stale.text).toContain("looks forged");
    expect(await inForce()).toHaveLength(4);
    const done = await cora.send(stale, "/holds/release-all");
    expect(done.text).toMatch(/3 holds released\. 1 bill of \$[\d,.]+ goes out now/);
    expect(await inForce()).toEqual(["payable pbl_0103 mine olga"]);
    // An approver ends what they have set, and nothing else.
    const theirs = await cora.get("/holds/release-all?by=olga");
    expect(theirs.text).toContain("These stay");
    expect((await cora.get("/holds/release-all?by=nora")).text).toContain("by olga");
  });

  test("is released by what was ticked and no more, with a result for each", async () => {
    for (const bill of ["pbl_0101", "pbl_0102", "pbl_0103"]) {
      const path = `/bills/${bill}/hold?business=acme`;
      await olga.send(await olga.get(path), path, { reason: `why ${bill}` });
    }
    await approveLines(gateway.store, run, ["pbl_0102"]);
    await setLine(gateway.store, run.runId, "pbl_0102", { state: "on-hold" });
    const { json } = await gateway.call("GET", "/v1/holds", await gateway.token("v", ["viewer"]));
    const ids = (json["items"] as { id: string; value: string }[])
      .filter(({ value }) => value !== "pbl_0103")
      .map(({ id }) => id);
    const asked = await olga.get(`/holds/release?${ids.map((id) => `id=${id}`).join("&")}`);
    expect(asked.text).not.toContain("why pbl_0103");
    expect(asked.text).not.toContain("that you ticked");
    // What goes out is said before anything is released.
    expect(asked.text).toMatch(/1 bill of \$[\d,.]+ goes out then/);
    const gone = await olga.get(`/holds/release?id=${ids[0] ?? ""}&id=hld_gone`);
    expect(gone.text).toContain("1 of 2 that you ticked is not here");
    // Somebody else releases one of them meanwhile.
    await gateway.call("DELETE", `/v1/holds/${ids[0] ?? ""}`, await gateway.token("o", ["admin"]));
    const done = await olga.send(asked, "/holds/release");
    expect(done.text).toContain("1 of 2: released.");
    expect(done.text).toContain("is in force");
    expect(await inForce()).toEqual(["payable pbl_0103 why pbl_0103 olga"]);
  });

  test("is refused to who may not set it, and nothing is held", async () => {
    const vera = await signedIn(gateway, "vera", ["viewer"]);
    const path = "/bills/pbl_0101/hold?business=acme";
    const refused = await vera.send(await vera.get(path), path, { reason: "x" });
    expect(refused.status).toBe(403);
    expect(refused.text).toContain("This needs one of the roles");
    expect(await inForce()).toEqual([]);
  });
});

describe("A stop", () => {
  const parts = [
    ["run", "weekly", "run pay-run/acme/weekly/2026-11-20"],
    ["vendor", "northwind freight", "contact con_4"],
    ["account", "balance", "source balance"],
  ] as const;
  test.each(parts)(
    "of only a part: a %s called %s, after a look at what that is",
    async (kind, q, hold) => {
      const cora = await signedIn(gateway, "cora", ["controller"]);
      const look = await cora.get(`/emergency/stop?kind=${kind}&q=${encodeURIComponent(q)}`);
      expect(look.text).toMatch(/Kept back \$[\d,.]+ \d+ bills/);
      expect(await inForce()).toEqual([]);
      expect((await cora.send(look, "/emergency/stop", { reason: "" })).status).toBe(422);
      const done = await cora.send(look, "/emergency/stop", { reason: "fraud?" });
      expect(done.text).toMatch(/is stopped/);
      expect(await inForce()).toEqual([`${hold} fraud? cora`]);
    },
  );

  test("asks which is meant where it is not clear, and stops nothing by that", async () => {
    const near = await olga.get("/emergency/stop?kind=vendor&q=Pinecrest");
    expect(near.text).toContain("No vendor is called “Pinecrest”.");
    expect(near.html).toContain("/emergency/stop?contactId=con_6");
    expect(await inForce()).toEqual([]);
  });

  test("calls back under the same hold what the service has, if that is ticked", async () => {
    await setRunPhase(gateway.store.db, run.runId, { phase: "paying" });
    const held = { state: "held", paymentIds: ["pay_1"] } as const;
    await setLine(gateway.store, run.runId, "pbl_0101", held);
    const asked = await olga.get("/emergency");
    const done = await olga.send(asked, "/emergency/stop", { reason: "odd debits", cancel: "yes" });
    expect(done.text).toContain("is being called back");
    const { policy } = await gateway.store.db
      .selectFrom("cancellations")
      .select("policy")
      .executeTakeFirstOrThrow();
    const [hold] = await activeHolds(gateway.store.db, "biz_acme", Date.now());
    expect(JSON.parse(policy)).toMatchObject({ holdId: hold?.holdId });
  });
});

describe("What needs action", () => {
  test("stands by cause, an account that bounced first, and is decided in bulk with a result for each", async () => {
    await park("pbl_0101");
    await park("pbl_0102");
    await park("pbl_0103", "partly-paid");
    await gateway.store.transaction((trx) =>
      openIncident(trx, {
        ...{ businessId: "biz_acme", business: "acme", sourceId: "balance", code: "R01" },
        ...{ workflowId: "funding-incident/acme/balance", reason: "Insufficient funds" },
        ...{ roles: ["owner"], nowMs: Date.now(), failedAtMs: Date.now() },
      }),
    );
    const shown = await olga.get("/needs-action");
    expect(shown.text.indexOf("Payments from Balance bounced")).toBeGreaterThan(0);
    expect(shown.text.indexOf("Payments from Balance bounced")).toBeLessThan(
      shown.text.indexOf("R02, account closed (2)"),
    );
    expect(shown.text).toContain("Partly paid (1)");
    const bills = ["acme/pbl_0101", "acme/pbl_0102"];
    const query = bills.map((bill) => `bill=${encodeURIComponent(bill)}`).join("&");
    const asked = await olga.get(`/needs-action/resolve?${query}`);
    const gone = await olga.get(`/needs-action/resolve?${query}&bill=acme%2Fpbl_gone`);
    expect(gone.text).toContain("1 of 3 that you ticked is not here");
    const silent = await olga.send(asked, "/needs-action/resolve", { reason: "x" });
    expect(silent.status).toBe(422);
    // One has moved on meanwhile.
    await setLine(gateway.store, run.runId, "pbl_0102", { state: "settled" });
    const action = "paid-elsewhere";
    const done = await olga.send(asked, "/needs-action/resolve", { action, reason: "by card" });
    expect(done.text).toContain("1 of 2: counts as paid elsewhere.");
    expect(done.text).toMatch(/BILL-000102 It waits for no decision any more/);
    expect(done.text).not.toContain("payrun explain");
    expect(await lineState(gateway.store, run.runId, "pbl_0101")).toBe("paid-elsewhere");
    expect(await lineState(gateway.store, run.runId, "pbl_0103")).toBe("parked");
  });

  test("of an account is one decision, which says what each choice leads to", async () => {
    await gateway.store.transaction((trx) =>
      openIncident(trx, {
        ...{ businessId: "biz_acme", business: "acme", sourceId: "balance", code: "R01" },
        ...{ workflowId: "funding-incident/acme/balance", reason: "Insufficient funds" },
        ...{ roles: ["owner"], nowMs: Date.now(), failedAtMs: Date.now() },
      }),
    );
    const path = "/incidents/balance?business=acme";
    const asked = await olga.get(path);
    expect(asked.text).toContain(
      "every bill that waits is paid again from it, within Nacha’s limits",
    );
    const done = await olga.send(asked, path, { decision: "released", reason: "money is there" });
    expect(done.text).toContain("Your decision counts");
    expect(await inForce()).toEqual([]);
    const again = await olga.post(path, {});
    expect(again.status).toBe(403);
  });
});

test("A bill's page says in its first sentence what became of it, and offers what can be done", async () => {
  await park("pbl_0101");
  const parked = await olga.get("/bills/pbl_0101?business=acme");
  expect(parked.text).toContain("BILL-000101, Harbor Street Bakery");
  expect(parked.text).toContain("Not paid by Payrun: no request to pay it was ever sent.");
  for (const act of ["Try again", "Paid elsewhere", "Give up", "Hold it"]) {
    expect(parked.text).toContain(act);
  }
  const path = "/bills/pbl_0101/give-up?business=acme";
  const done = await olga.send(await olga.get(path), path, { reason: "disputed" });
  expect(done.text).toContain("It is given up.");
  expect(await lineState(gateway.store, run.runId, "pbl_0101")).toBe("given-up");
});

test("An address alone says nothing of a bill or a vendor: done is what is so", async () => {
  for (const act of ["hold", "retry", "paid-elsewhere", "give-up"]) {
    expect((await olga.get(`/bills/pbl_0101?business=acme&done=${act}`)).text).not.toContain(
      "Done",
    );
  }
  expect((await olga.get("/vendors/con_4?business=acme&done=hold")).text).not.toContain("Done");
  const path = "/bills/pbl_0101/hold?business=acme";
  const held = await olga.send(await olga.get(path), path, { reason: "a call is open" });
  expect(held.text).toContain("Done It is on hold: nothing new is sent for it.");
});

test("A bill's page calls Payrun's own workflows so, and says a name once", async () => {
  const actor = "retry-failed-payment/acme/pbl_0101";
  const entry = { businessId: "biz_acme", subject: "pbl_0101", action: "line:parked", nowMs: 1 };
  await gateway.store.transaction((trx) => appendAudit(trx, { ...entry, actor, details: {} }));
  await approveLines(gateway.store, run, ["pbl_0101"]);
  const { text } = await olga.get("/bills/pbl_0101?business=acme");
  expect(text).toMatch(/Now parked\s+\( ?Payrun ?\)/);
  expect(text).not.toContain(actor);
  expect(text).not.toContain("(cora)");
  expect(text).toContain("1 entry of the audit trail is");
});

test("What is not known is said to whoever looks in their words, on a page", async () => {
  const unknown = await olga.get("/bills/pbl_nowhere?business=acme");
  expect(unknown.status).toBe(404);
  expect(unknown.text).toContain("Search for a vendor");
  expect(unknown.text).not.toContain("API");
  expect((await olga.get("/bills/pbl_0101?business=theirs")).status).toBe(404);
  const browser = { headers: { accept: "text/html,*/*;q=0.8" } };
  const nothing = await fetch(`${gateway.url}/nowhere`, browser);
  expect(nothing.status).toBe(404);
  expect(await nothing.text()).toContain("There is no such page");
  expect(await (await fetch(`${gateway.url}/nowhere`)).json()).toMatchObject({
    error: "not_found",
  });
  const headers = { ...browser.headers, cookie: olga.browser.cookie };
  const known = await fetch(`${gateway.url}/nowhere`, { headers });
  expect(known.status).toBe(404);
  expect(await known.text()).toContain("Signed in as olga");
  const from = { ...headers, referer: `${gateway.url}/emergency?page=2` };
  const unticked = await fetch(`${gateway.url}/emergency/cancel`, { headers: from });
  expect(await unticked.text()).toContain('<a href="/emergency?page=2">Back</a>');
  const foreign = { ...headers, referer: "https://evil.example/emergency" };
  const led = await fetch(`${gateway.url}/emergency/cancel`, { headers: foreign });
  expect(await led.text()).not.toContain(">Back<");
  expect(known.headers.get("content-security-policy")).toContain("default-src 'none'");
});

test("The emergency page says what can be called back and what can't, and cancels what is ticked", async () => {
  const today = newYorkDate(Date.now());
  await setRunPhase(gateway.store.db, run.runId, { phase: "paying" });
  const payment = { state: "scheduled", paymentIds: ["pay_1"] } as const;
  await setLine(gateway.store, run.runId, "pbl_0101", payment);
  await setLine(gateway.store, run.runId, "pbl_0102", { state: "processing" });
  await gateway.store.db
    .updateTable("run_lines")
    .set({ execution_date: `${Number(today.slice(0, 4)) + 1}-01-04` })
    .where("payable_id", "=", "pbl_0101")
    .execute();
  const shown = await olga.get("/emergency");
  expect(shown.text).toMatch(/Can be called back \$\S+ 1 bill/);
  expect(shown.text).toMatch(/Can’t be called back \$\S+ 1 bill/);
  const asked = await olga.get(`/emergency/cancel?bill=${encodeURIComponent("acme/pbl_0101")}`);
  expect(asked.text).toContain("Harbor Street Bakery");
  expect(asked.text).not.toContain("Juniper");
  // Temporal is down here: the request is kept, and said so.
  const done = await olga.send(asked, "/emergency/cancel", { reason: "wrong week" });
  expect(done.text).toContain("Temporal");
  const two = ["acme/pbl_0101", "acme/pbl_0102"].map((key) => `bill=${encodeURIComponent(key)}`);
  const rest = await olga.get(`/emergency/cancel?${two.join("&")}`);
  expect(rest.text).toContain(
    "1 of 2 that you ticked is not here: it can’t be called back any more.",
  );
  // The bank has it meanwhile.
  await setLine(gateway.store, run.runId, "pbl_0101", { state: "processing" });
  const late = await olga.send(rest, "/emergency/cancel", { reason: "wrong week" });
  expect(late.text).toContain("0 of 1: being called back. 1 was refused");
  expect(late.text).toContain("pbl_0101 Nothing was done: it can’t be called back any more.");
});

test("A cancellation's page names each bill by vendor and number, a hundred on a page", async () => {
  const bills = Array.from({ length: 58 }, (_, no) => `pbl_${String(no + 101).padStart(4, "0")}`);
  const more = Array.from({ length: 50 }, (_, no) => `pbl_more_${no}`);
  const id = await seedCancellation(gateway.store, [...bills, ...more]);
  const page = `/runs/${encodeURIComponent(id)}`;
  const first = await olga.get(page);
  expect(first.text).toContain("Harbor Street Bakery BILL-000101 Cancelled No money moved.");
  expect(first.text).toContain("Page 1 of 2");
  expect(first.text).not.toContain("pbl_more_49");
  expect((await olga.get(`${page}?page=2`)).text).toContain("pbl_more_49");
});

test("The emergency page says that a restored store doesn't count what it has lost", async () => {
  expect((await olga.get("/emergency")).text).not.toContain("neither counted nor listed");
  const loss = { businessId: "biz_acme", evidence: "a test", hadItAtMs: 1, serviceMs: null };
  await gateway.store.transaction((trx) => holdForLoss(trx, loss));
  expect((await olga.get("/emergency")).text).toContain("neither counted nor listed");
});

test("Search leads to what is called so, and lists what may be meant", async () => {
  const found = await olga.get("/search?q=BILL-000101");
  expect(found.text).toContain("BILL-000101");
  const part = await olga.get("/search?q=harb");
  expect(part.text).toContain("With this in the name");
  expect(part.text).not.toContain("Juniper");
  const near = await olga.get("/search?q=nothing-like-it");
  expect(near.text).toContain("Nothing is called so.");
  expect(near.text).not.toContain("Perhaps you mean");
  // The service can't be asked here, and the page says so.
  expect(near.text).toContain("there may be more");
});

test("A report has its sums, its exceptions and a table to take along", async () => {
  await park("pbl_0101");
  const path = `/reports/${encodeURIComponent(run.runId)}`;
  const shown = await olga.get(path);
  expect(shown.text).toMatch(/Exceptions 1 bill/);
  const table = await olga.browser.get(`${path}/csv.csv`);
  expect(table.headers.get("content-type")).toContain("text/csv");
  expect((await table.text()).split("\r\n")[0]).toContain("payable_id");
});
