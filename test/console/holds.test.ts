import { describe, expect } from "vitest";
import { addDays } from "../../src/domain/clock/dates.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { createHold } from "../../src/store/holds/holds.ts";
import { profile } from "../gateway/support/gateway.ts";
import { gatewayOf } from "../gateway/support/gateway-test.ts";
import { SOON } from "../gateway/support/paying-run.ts";
import { approveLines, setLine } from "../gateway/support/rows.ts";
import { signedIn, type Visits } from "./support/visits.ts";
import { inForce, seedWeekly, weeklyTest as test } from "./support/weekly-run.ts";

describe("A hold", () => {
  test("a hold on a bill, a vendor or a run needs a reason, and its form says what it doesn't stop", async ({
    gateway,
    run,
    olga,
  }) => {
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
      expect(await inForce(gateway)).toContain(`${what} looks forged olga`);
    }
  });

  test.for([
    // Five minutes before the payment goes out, the time that a stop also names.
    ["scheduled", "8:55 AM New York."],
    ["processing", "with the bank already"],
    ["settled", "paid already"],
  ] as const)(
    "a hold on a bill that is %s holds nothing back, and says so",
    async ([state, said], { gateway, run, olga }) => {
      const paid = { paymentIds: ["pmt_1"], executionDate: SOON };
      await setLine(gateway.store, run.runId, "pbl_0101", { state, ...paid });
      const path = "/bills/pbl_0101/hold?business=acme";
      const done = await olga.send(await olga.get(path), path, { reason: "odd" });
      expect(done.text).toContain(`The hold doesn’t stop what was sent`);
      expect(done.text).toContain(said);
      expect(done.text).not.toContain("It is on hold: nothing new is sent");
    },
  );

  test("the form of a hold on a vendor shows what it holds back and what can be called back", async ({
    gateway,
    run,
    olga,
  }) => {
    const sent = {
      state: "scheduled",
      executionDate: addDays(newYorkDate(Date.now()), 30),
    } as const;
    await setLine(gateway.store, run.runId, "pbl_0114", sent);
    const { text } = await olga.get("/vendors/con_4/hold?business=acme");
    expect(text).toMatch(/On hold \$[\d,.]+ ?5 bills Can be called back \$[\d,.]+ ?1 bill/);
  });

  test("a hold on an account takes the account's name; mistakes are shown and the typed values stay", async ({
    gateway,
    olga,
  }) => {
    const path = "/holds/new?on=source";
    const typed = { value: "The old one", reason: "odd debits", until: "friday" };
    const asked = await olga.get(path);
    const unknown = await olga.send(asked, "/holds/new", typed);
    expect(unknown.status).toBe(422);
    expect(unknown.text).toContain("No account is called “The old one”.");
    expect(unknown.text).toContain("Write the date like this: 2026-12-01.");
    for (const value of Object.values(typed)) expect(unknown.html).toContain(`value="${value}"`);
    const past = { ...typed, value: "balance", until: "2020-01-01" };
    const over = await olga.send(unknown, "/holds/new", past);
    expect(over.text).toContain("The day until which it should last has passed.");
    expect(over.html).toContain('value="odd debits"');
    expect(await inForce(gateway)).toEqual([]);
    await olga.send(over, "/holds/new", { ...typed, value: "Balance", until: "" });
    expect(await inForce(gateway)).toEqual(["source balance odd debits olga"]);
  });

  test("a hold whose end has passed is refused, and the typed values stay", async ({
    gateway,
    olga,
  }) => {
    const path = "/bills/pbl_0101/hold?business=acme";
    const typed = { reason: "a call is open", until: "2020-01-01" };
    const over = await olga.send(await olga.get(path), path, typed);
    expect(over.status).toBe(422);
    expect(over.text).toContain("The day until which it should last has passed.");
    expect(over.html).toContain('value="a call is open"');
    expect(await inForce(gateway)).toEqual([]);
  });

  test("a hold on everything is set with one form and shown on each page", async ({
    gateway,
    olga,
  }) => {
    const asked = await olga.get("/emergency");
    const done = await olga.send(asked, "/emergency/stop", { reason: "odd debits" });
    expect(done.text).toContain("Everything is stopped");
    expect(await inForce(gateway)).toEqual(["all  odd debits olga"]);
    for (const path of ["/", "/holds", "/needs-action", "/reports", "/emergency"]) {
      expect((await olga.get(path)).text, path).toMatch(/Everything is on hold odd debits — olga/);
    }
    expect((await olga.get("/emergency")).text).toContain("nothing new is sent");
  });

  test("a hold on everything in several businesses is one banner that names them", async () => {
    const profiles = ["acme", "borough", "cobalt"].map((name) =>
      profile({ name, businessId: `biz_${name}` }),
    );
    const gateway = await gatewayOf({ profiles });
    const olga = await signedIn(gateway, "olga", ["operator"]);
    const asked = await olga.get("/emergency");
    await olga.send(asked, "/emergency/stop", { reason: "odd debits" });
    const shown = (await olga.get("/")).text;
    expect(shown.match(/Everything is on hold/g)).toHaveLength(1);
    expect(shown).toContain("Everything is on hold in all 3 businesses odd debits — olga");
  });

  test("a hold is shown with vendor, number and sum, and times in the profile's zone", async () => {
    const gateway = await gatewayOf({ profiles: [profile({ zone: "America/Chicago" })] });
    await seedWeekly(gateway.store);
    const olga = await signedIn(gateway, "olga", ["operator"]);
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

  test("all holds of one person are released at once, after the page shows what goes out", async ({
    gateway,
    run,
    olga,
  }) => {
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
    expect(await inForce(gateway)).toHaveLength(3);
    // A third hold that she sets in the meantime was not on the page.
    const third = "/bills/pbl_0104/hold?business=acme";
    await cora.send(await cora.get(third), third, { reason: "looks forged" });
    const stale = await cora.send(look, "/holds/release-all");
    expect(stale.status).toBe(409);
    expect(stale.text).toContain("Nothing was released");
    expect(stale.text).toContain("looks forged");
    expect(await inForce(gateway)).toHaveLength(4);
    const done = await cora.send(stale, "/holds/release-all");
    expect(done.text).toMatch(/3 holds released\. 1 bill of \$[\d,.]+ goes out now/);
    expect(await inForce(gateway)).toEqual(["payable pbl_0103 mine olga"]);
    // An approver can release only the holds that they have set.
    const theirs = await cora.get("/holds/release-all?by=olga");
    expect(theirs.text).toContain("These stay");
    expect((await cora.get("/holds/release-all?by=nora")).text).toContain("by olga");
  });

  test("a hold's release is offered only to those who may release it, on both its pages", async ({
    gateway,
    olga,
  }) => {
    const cora = await signedIn(gateway, "cora", ["controller"]);
    for (const [visits, bill] of [
      [cora, "pbl_0101"],
      [olga, "pbl_0102"],
    ] as const) {
      const path = `/bills/${bill}/hold?business=acme`;
      await visits.send(await visits.get(path), path, { reason: "a call is open" });
    }
    await gateway.store.transaction((trx) =>
      createHold(trx, {
        ...{ businessId: "biz_acme", scope: "payable", value: "pbl_0103", roles: ["owner"] },
        ...{ reason: "flagged", author: "hold-flagged", nowMs: Date.now() },
      }),
    );
    const offered = async (visits: Visits) => {
      const { html } = await visits.get("/holds");
      const ticks = [...html.matchAll(/Release the hold on BILL-000(\d+)/g)].map(
        ([, no = ""]) => no,
      );
      const bills = [];
      for (const no of ["101", "102", "103"]) {
        const bill = await visits.get(`/bills/pbl_0${no}?business=acme`);
        if (bill.html.includes('href="/holds/release?id=')) bills.push(no);
        else expect(bill.text).toMatch(no === "103" ? /by owner/ : /by operator or admin/);
      }
      expect(bills).toEqual(ticks.toSorted());
      return [...bills, ...(html.includes('action="/holds/release"') ? ["form"] : [])];
    };
    expect(await offered(olga)).toEqual(["101", "102", "form"]);
    expect(await offered(cora)).toEqual(["101", "form"]);
    expect(await offered(await signedIn(gateway, "otto", ["owner"]))).toEqual(["103", "form"]);
    const vera = await signedIn(gateway, "vera", ["viewer"]);
    expect(await offered(vera)).toEqual([]);
    const whose = /a person releases it owner .* a person releases it operator or admin /;
    const page = await vera.get("/holds");
    expect(page.text).toMatch(whose);
    // A person who may neither set nor release a hold reads who may.
    expect(page.text).toContain("A hold takes the role operator or admin");
    expect(page.html).not.toMatch(/holds\/(new|release-all)/);
    const hers = (await olga.get("/holds")).html;
    expect(hers).toContain('action="/holds/release-all"');
    expect(hers).toContain('href="/holds/new?on=source"');
  });

  test("only the ticked holds are released, with a result for each", async ({
    gateway,
    run,
    olga,
  }) => {
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
    // The page says what goes out before anything is released.
    expect(asked.text).toMatch(/1 bill of \$[\d,.]+ goes out then/);
    const gone = await olga.get(`/holds/release?id=${ids[0] ?? ""}&id=hld_gone`);
    expect(gone.text).toContain("1 of 2 that you ticked is not here");
    // Another person releases one of them in the meantime.
    await gateway.call("DELETE", `/v1/holds/${ids[0] ?? ""}`, await gateway.token("o", ["admin"]));
    const done = await olga.send(asked, "/holds/release");
    expect(done.text).toContain("1 of 2: released.");
    expect(done.text).toContain("is in force");
    expect(await inForce(gateway)).toEqual(["payable pbl_0103 why pbl_0103 olga"]);
  });

  test.for<[string, string]>([
    ["those that were ticked", "/holds/release"],
    ["all of one person", "/holds/release-all"],
  ])(
    "holds are not released if more would go out than was shown: %s",
    async ([_which, to], { gateway, run, olga }) => {
      for (const bill of ["pbl_0101", "pbl_0102"]) {
        const path = `/bills/${bill}/hold?business=acme`;
        await olga.send(await olga.get(path), path, { reason: "a call is open" });
      }
      const { json } = await gateway.call("GET", "/v1/holds", await gateway.token("v", ["viewer"]));
      const ids = (json["items"] as { id: string }[]).map(({ id }) => `id=${id}`).join("&");
      const look = await olga.get(`${to}?by=olga&${ids}`);
      expect(look.text).toContain("nothing goes out");
      // One of the bills is approved in the meantime.
      await approveLines(gateway.store, run, ["pbl_0102"]);
      await setLine(gateway.store, run.runId, "pbl_0102", { state: "on-hold" });
      const stale = await olga.send(look, to);
      expect(stale.status).toBe(409);
      expect(stale.text).toContain("Nothing was released");
      expect(stale.text).toMatch(/1 bill of \$[\d,.]+ goes out then/);
      expect(await inForce(gateway)).toHaveLength(2);
      expect((await olga.send(stale, to)).text).toMatch(/1 bill of \$[\d,.]+ goes out now/);
      expect(await inForce(gateway)).toEqual([]);
    },
  );

  test("a person without the role can't set a hold, and nothing is held", async ({ gateway }) => {
    const vera = await signedIn(gateway, "vera", ["viewer"]);
    const path = "/bills/pbl_0101/hold?business=acme";
    const refused = await vera.send(await vera.get(path), path, { reason: "x" });
    expect(refused.status).toBe(403);
    expect(refused.text).toContain("This needs one of the roles");
    expect(await inForce(gateway)).toEqual([]);
  });
});
