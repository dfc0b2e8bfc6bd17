import { byWorkflow, PAYRUN } from "../../src/contracts/authors.ts";
import { expect } from "vitest";
import { appendAudit } from "../../src/store/audit/audit.ts";
import { createHold } from "../../src/store/holds/holds.ts";
import { SOON } from "../gateway/support/paying-run.ts";
import { approveLines, lineState, planLine, seedRun, setLine } from "../gateway/support/rows.ts";
import { seedCancellation } from "./support/cancellation.ts";
import { signedIn } from "./support/visits.ts";
import { park, weeklyTest as test } from "./support/weekly-run.ts";

test("a bill's page says in its first sentence whether it was paid, and offers what can be done", async ({
  gateway,
  run,
  olga,
}) => {
  await park(gateway, run, "pbl_0101");
  const parked = await olga.get("/bills/pbl_0101?business=acme");
  expect(parked.text).toContain("BILL-000101, Harbor Street Bakery");
  expect(parked.text).toContain("Not paid by Payrun: no request to pay it was ever sent.");
  for (const act of ["Try again", "Paid elsewhere", "Give up", "Hold it"]) {
    expect(parked.text).toContain(act);
  }
  const viewer = await (await signedIn(gateway, "vera", ["viewer"])).get("/bills/pbl_0101");
  expect(viewer.text).toContain("A decision about it takes the role operator or admin.");
  expect(viewer.html).not.toContain("/give-up");
  const path = "/bills/pbl_0101/give-up?business=acme";
  const done = await olga.send(await olga.get(path), path, { reason: "disputed" });
  expect(done.text).toContain("It is given up.");
  expect(await lineState(gateway.store, run.runId, "pbl_0101")).toBe("given-up");
});

test("a bill over a limit is shown with what gets it paid, instead of a retry", async ({
  gateway,
  run,
  olga,
}) => {
  await park(gateway, run, "pbl_0101", "over_bill_limit");
  for (const path of ["/bills/pbl_0101?business=acme", "/needs-action"]) {
    const { text } = await olga.get(path);
    expect(text).toMatch(/Over limits\.bill a retry doesn.t help: raise it in the playbook/);
    expect(text).not.toContain("Try again");
  }
  const decision = await olga.get("/needs-action/resolve?bill=acme%2Fpbl_0101");
  expect(decision.text).toContain("Give up");
  expect(decision.text).not.toContain("Try again");
});

test("a vendor's page and a report show a bill that a later run has taken as given back", async ({
  gateway,
  run,
  olga,
}) => {
  await park(gateway, run, "pbl_0101", "over_bill_limit");
  const later = await seedRun(gateway.store, {
    ...{ period: "2027-01-08", lines: [planLine("pbl_0101", { contactId: "con_1" })] },
  });
  await setLine(gateway.store, later.runId, "pbl_0101", { state: "settled" });
  const report = await olga.get(`/reports/${encodeURIComponent(run.runId)}`);
  const { text } = await olga.get("/vendors/con_1?business=acme");
  for (const shown of [report.text, text]) {
    expect(shown).toContain(`Given back R02: account closed. ${later.runId} has had it since.`);
    expect(shown).not.toContain("Needs a person");
  }
  expect(text).toMatch(/Earlier bills .*Given back/);
});

test("an address alone can't make a page say that something was done", async ({ olga }) => {
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

test("a bill's page shows Payrun's own workflows as Payrun, and doesn't repeat a name", async ({
  gateway,
  run,
  olga,
}) => {
  const actor = byWorkflow("retry-failed-payment/acme/pbl_0101");
  const entry = { businessId: "biz_acme", subject: "pbl_0101", action: "line:parked", nowMs: 1 };
  await gateway.store.transaction((trx) => appendAudit(trx, { ...entry, actor, details: {} }));
  await approveLines(gateway.store, run, ["pbl_0101"]);
  const { text } = await olga.get("/bills/pbl_0101?business=acme");
  expect(text).toMatch(/Now parked\s+\( ?Payrun ?\)/);
  expect(text).not.toContain(actor.name);
  expect(text).not.toContain("(cora)");
  expect(text).toContain("3 entries of the audit trail are");
});

test("an unknown address gets a 404 page in plain words, with a link back within the site", async ({
  gateway,
  olga,
}) => {
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

test("a bill that is held before any run has planned it is not shown as left out", async ({
  gateway,
  olga,
}) => {
  const hold = { scope: "payable", value: "stranger", reason: "Disputed", author: "oli" } as const;
  await gateway.store.transaction((trx) =>
    createHold(trx, { ...hold, businessId: "biz_acme", nowMs: Date.now() }),
  );
  const { text } = await olga.get("/bills/stranger?business=acme");
  expect(text).toContain("Disputed");
  expect(text).not.toContain("Left out");
});

test("a page that needs an unreachable service says so in plain words", async ({ olga }) => {
  const { status, text } = await olga.get("/vendors/con_nowhere?business=acme");
  expect(status).toBe(503);
  expect(text).toContain("can’t be asked right now");
  expect(text).not.toMatch(/ECONN|127\.0|Nothing is known to have been done/);
});

test("a person without the role reads which roles it takes and which they have", async ({
  gateway,
}) => {
  const vera = await signedIn(gateway, "vera", ["viewer"]);
  const path = "/bills/pbl_0101/hold?business=acme";
  const refused = await vera.send(await vera.get(path), path, { reason: "odd" });
  expect(refused.status).toBe(403);
  expect(refused.text).toMatch(
    /one of the roles operator, .*; vera has viewer\. Nothing was done\./,
  );
});

test("pages offer holds, stops and cancels only to those who may do them, and name the roles", async ({
  gateway,
  run,
}) => {
  await setLine(gateway.store, run.runId, "pbl_0101", {
    ...{ state: "scheduled", paymentIds: ["pmt_1"], executionDate: "2029-11-26" },
  });
  const runPage = `/runs/${encodeURIComponent(run.runId)}`;
  const offered = async (name: string, roles: readonly string[]) => {
    const visits = await signedIn(gateway, name, roles);
    const pages = [
      await visits.get("/bills/pbl_0101"),
      await visits.get("/vendors/con_4"),
      await visits.get(runPage),
    ];
    const html = pages.map((page) => page.html).join("");
    const [, ...found] = [
      "",
      "/bills/pbl_0101/hold",
      "/bills/pbl_0101/cancel",
      "/vendors/con_4/hold",
    ]
      .concat(`${runPage}/hold`, `${runPage}/cancel`, "Stop the vendor", "Stop this run")
      .map((act) => html.includes(act));
    return { found, said: pages.map(({ text }) => text.includes("A hold takes the role")) };
  };
  const all = { found: Array(7).fill(true), said: [false, false, false] };
  expect(await offered("oli", ["operator"])).toEqual(all);
  expect(await offered("cora", ["controller"])).toEqual({
    ...{ found: [true, false, true, true, false, true, true], said: [false, false, false] },
  });
  expect(await offered("vera", ["viewer"])).toEqual({
    ...{ found: Array(7).fill(false), said: [true, true, true] },
  });
});

test("a cancel's page names its deadline, and several scheduled payments can't be cancelled", async ({
  gateway,
  run,
  olga,
}) => {
  const page = "/bills/pbl_0101/cancel?business=acme";
  const standing = async (paymentIds: readonly string[]) => {
    await setLine(gateway.store, run.runId, "pbl_0101", {
      ...{ state: "scheduled", paymentIds, executionDate: SOON },
    });
    const [bill, asked] = [await olga.get("/bills/pbl_0101"), await olga.get(page)];
    return { offered: bill.html.includes("/bills/pbl_0101/cancel"), text: asked.text };
  };
  const one = await standing(["pmt_1"]);
  expect(one.offered).toBe(true);
  expect(one.text).toMatch(/It can be called back until .* 8:55 AM New York\./);
  const several = await standing(["pmt_1", "pmt_2"]);
  expect(several.offered).toBe(false);
  expect(several.text).toContain(
    "The service cancels no payment of a bill that has several scheduled ones.",
  );
  expect(several.text).not.toContain("can be called back");
});

test("a cancellation's page names each bill by vendor and number, a hundred on a page", async ({
  gateway,
  olga,
}) => {
  const bills = Array.from({ length: 58 }, (_, no) => `pbl_${String(no + 101).padStart(4, "0")}`);
  const more = Array.from({ length: 50 }, (_, no) => `pbl_more_${no}`);
  const id = await seedCancellation(gateway.store, [...bills, ...more]);
  const page = `/runs/${encodeURIComponent(id)}`;
  const first = await olga.get(page);
  expect(first.text).toContain("Cancellation Putting bills on hold");
  expect(first.text).toContain("Harbor Street Bakery BILL-000101 Cancelled No money moved.");
  expect(first.text).toContain("Page 1 of 2");
  expect(first.text).not.toContain("pbl_more_49");
  expect((await olga.get(`${page}?page=2`)).text).toContain("pbl_more_49");
});

test("search finds bills by number or part of a name, and says if there may be more", async ({
  olga,
}) => {
  const found = await olga.get("/search?q=BILL-000101");
  expect(found.text).toContain("BILL-000101");
  const part = await olga.get("/search?q=harb");
  expect(part.text).toContain("With this in the name");
  expect(part.text).not.toContain("Juniper");
  const near = await olga.get("/search?q=nothing-like-it");
  expect(near.text).toContain("Nothing matches.");
  expect(near.text).not.toContain("Did you mean");
  // The service can't be asked here, and the page says so.
  expect(near.text).toContain("there may be more");
});

test("search shows a hold's reason as it was written", async ({ gateway, olga }) => {
  const reason = "see ticket fin-2026-12 of con_4";
  const hold = { payableId: "pbl_0101", reason };
  const operator = await gateway.token("otto", ["operator"]);
  expect((await gateway.call("POST", "/v1/holds", operator, hold)).status).toBe(201);
  expect((await olga.get("/search?q=BILL-000101")).text).toContain(`On hold otto: ${reason}`);
});

test("a hold that Payrun has set is shown as Payrun's", async ({ gateway, olga }) => {
  const hold = { businessId: "biz_acme", scope: "contact", value: "con_9", nowMs: Date.now() };
  await gateway.store.transaction(async (trx) => {
    await createHold(trx, {
      ...hold,
      scope: "contact",
      reason: "Another account.",
      author: PAYRUN,
    });
  });
  expect((await olga.get("/holds")).text).toMatch(/Another account\. Payrun /);
});

test("a report shows its exceptions and can be downloaded as CSV that Excel opens right", async ({
  gateway,
  run,
  olga,
}) => {
  await park(gateway, run, "pbl_0101");
  const path = `/reports/${encodeURIComponent(run.runId)}`;
  const shown = await olga.get(path);
  expect(shown.text).toMatch(/Exceptions 1 bill/);
  const table = await olga.browser.get(`${path}/csv.csv`);
  expect(table.headers.get("content-type")).toContain("text/csv");
  const bytes = Buffer.from(await table.arrayBuffer());
  expect(bytes.subarray(0, 3).toString("hex")).toBe("efbbbf");
  expect(bytes.toString("utf8").split("\r\n")[0]).toContain("payable_id");
});
