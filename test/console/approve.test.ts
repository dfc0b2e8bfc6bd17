import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { decisionsOfRun } from "../../src/store/approvals/decisions.ts";
import { listAudit } from "../../src/store/audit/audit.ts";
import { getPlanLine } from "../../src/store/lines/plan-lines.ts";
import { storeReplannedLines } from "../../src/store/plans/replan-writes.ts";
import { profile, startTestGateway, type TestGateway } from "../gateway/support/gateway.ts";
import { serviceWithoutSources } from "../gateway/support/no-sources.ts";
import { lineState, type SeededRun } from "../gateway/support/rows.ts";
import { Browser } from "../gateway/sign-in/browser.ts";
import { signedIn, Visits } from "./support/visits.ts";
import { seedWeekly } from "./support/weekly-run.ts";

let gateway: TestGateway;
let run: SeededRun;
let cora: Visits;
let page: string;

beforeEach(async () => {
  gateway = await startTestGateway();
  run = await seedWeekly(gateway.store);
  cora = await signedIn(gateway, "cora", ["controller"]);
  page = `/runs/${encodeURIComponent(run.runId)}`;
});
afterEach(() => gateway.stop());

const check = (out: readonly string[] = []) => {
  const query = new URLSearchParams({ plan: run.planHash });
  for (const id of out) query.append("out", id);
  return `${page}/approve?${query.toString()}`;
};

const CALLED = { "whom-con_4": "Ann Lee, accounts", "number-con_4": "+1 212 555 0100" };

async function counted(): Promise<string[]> {
  const decisions = await decisionsOfRun(gateway.store.db, run.runId);
  return decisions.map(({ principal, decision, outcome }) => `${principal} ${decision} ${outcome}`);
}

test("Today says what waits for whom, and that a launcher's own approval is not waited for", async () => {
  const mine = await cora.get("/");
  expect(mine.text).toContain("57 bills of");
  expect(mine.text).toContain("1 more waits for others");
  const otto = await (await signedIn(gateway, "otto", ["owner"])).get("/");
  expect(otto.text).toContain("58 bills, all wait for you");
  const lou = await (await signedIn(gateway, "lou", ["controller", "owner"])).get("/");
  expect(lou.text).toContain("No run waits for your approval.");
  expect(lou.text).toContain("58 bills, for owner or controller");
});

test("A run's page offers each person the decisions that count: a viewer none, its launcher a rejection", async () => {
  const offered = async (name: string, roles: readonly string[]): Promise<boolean[]> => {
    const { text } = await (await signedIn(gateway, name, roles)).get(page);
    return ["Check and approve", "Reject the plan", "Leave out"].map((act) => text.includes(act));
  };
  expect(await offered("cora", ["controller"])).toEqual([true, true, true]);
  expect(await offered("lou", ["controller"])).toEqual([false, true, false]);
  expect(await offered("vera", ["viewer"])).toEqual([false, false, false]);
});

test("Today names the commands for what has no page yet, also once there are runs", async () => {
  const { text } = await cora.get("/");
  for (const command of ["schedule list", "playbook list", "launch kyb-onboarding", "audit verify"])
    expect(text).toContain(`payrun ${command}`);
});

test("who is about to approve reads that the account can't pay any more", async () => {
  await gateway.stop();
  const apiUrl = await serviceWithoutSources();
  gateway = await startTestGateway({ profiles: [profile({ apiUrl })] });
  run = await seedWeekly(gateway.store);
  cora = await signedIn(gateway, "cora", ["controller"]);
  expect((await cora.get(check())).text).toContain(
    "can't pay: the service doesn't list it any more",
  );
});

describe("Approving", () => {
  test("shows the sum, the share, odd and late bills, and asks about what is approved before it is", async () => {
    const shown = await cora.get(page);
    expect(shown.status).toBe(200);
    for (const said of [
      "Your approval lets",
      "Odd: 2 bills",
      "Northwind Freight",
      "The vendor's bank account ends in 4417 now",
      "Same vendor and amount as bill BILL-000012",
      "7 days",
      "All bills (58)",
      "Page 1 of 2",
    ]) {
      expect(shown.text).toContain(said);
    }
    const checked = await cora.get(check());
    expect(checked.text).toContain("Whom did you call?");
    expect(await counted()).toEqual([]);
    const done = await cora.send(checked, `${page}/approve`, CALLED);
    expect(done.text).toMatch(
      /55 bills, \$[\d,.]+, go out; 2 need a second person .*, 1 needs the owner\./,
    );
    expect(await counted()).toEqual(["cora approve accepted"]);
    expect((await cora.get("/")).text).toContain("No run waits for your approval.");
  });

  test("shows the five latest bills, and folds the others above the decision", async () => {
    await gateway.stop();
    gateway = await startTestGateway();
    run = await seedWeekly(gateway.store, 220);
    cora = await signedIn(gateway, "cora", ["controller"]);
    const { html } = await cora.get(page);
    const [, late = ""] = html.split("Late: 11 bills");
    const [shown = "", folded = ""] = late.split("6 more late bills");
    expect(shown.match(/Late by/g)).toHaveLength(1 + 5);
    expect(folded.split("</details>")[0]?.match(/Late by/g)).toHaveLength(1 + 6);
  });

  test("leaves bills out by their ids, with a reason, also those ticked on another page", async () => {
    const [first, last] = ["pbl_0101", "pbl_0158"];
    const turned = await cora.get(`${page}?page=2&out=${first}&plan=${run.planHash}`);
    expect(turned.html).toMatch(new RegExp(`type="hidden" name="out" value="${first}"`));
    const checked = await cora.get(check([first, last]));
    expect(checked.text).toContain("You leave out 2 bills of");
    const silent = await cora.send(checked, `${page}/approve`, CALLED);
    expect(silent.status).toBe(422);
    expect(silent.text).toContain("Say why they are left out.");
    expect(silent.html).toContain('value="Ann Lee, accounts"');
    const done = await cora.send(silent, `${page}/approve`, { ...CALLED, comment: "disputed" });
    expect(done.text).toContain("2 bills left out.");
    for (const id of [first, last]) {
      expect(await lineState(gateway.store, run.runId, id)).toBe("cancelled");
    }
  });

  test("decides nothing where a vendor's new bank account was not verified", async () => {
    const checked = await cora.get(check());
    const silent = await cora.send(checked, `${page}/approve`, {
      ...{ "whom-con_4": "Ann", "number-con_4": "y" },
    });
    expect(silent.status).toBe(422);
    expect(silent.text).toContain("Say the whole number you called");
    expect(await counted()).toEqual([]);
    const without = await cora.get(check(["pbl_0104"]));
    expect(without.text).not.toContain("Whom did you call?");
  });

  test("keeps how a new bank account was verified in the trail, the report and the bill's history", async () => {
    await cora.send(await cora.get(check()), `${page}/approve`, CALLED);
    const verified = { contactId: "con_4", person: "Ann Lee, accounts", phone: "+1 212 555 0100" };
    const trail = await listAudit(gateway.store.db, { businessId: "biz_acme", subject: run.runId });
    expect(trail.at(-1)).toMatchObject({
      action: "run.approved",
      details: { verifiedBankChanges: [verified] },
    });
    expect((await cora.get("/bills/pbl_0104")).text).toContain(
      "verified with Ann Lee, accounts, called on +1 212 555 0100",
    );
    expect((await cora.get(`/reports/${encodeURIComponent(run.runId)}`)).text).toContain(
      "Ann Lee, accounts",
    );
    const token = await gateway.token("vera", ["viewer"]);
    const report = await gateway.call("GET", `/v1${page}/report`, token);
    expect(report.json).toMatchObject({
      decisions: {
        counted: [
          { by: "cora", verifiedBankChanges: [{ ...verified, contactName: "Northwind Freight" }] },
        ],
      },
    });
  });

  test("of a plan that has changed meanwhile decides nothing and shows the difference", async () => {
    const checked = await cora.get(check());
    const { db } = gateway.store;
    const plan = await getPlanLine(db, run.runId, "pbl_0101");
    if (plan === undefined) throw new Error("no line");
    const amountCents = plan.amountCents + 100_000;
    const anew = { ...plan, version: 2, amountCents, lineHash: "hash-of-pbl_0101-anew" };
    await gateway.store.transaction((trx) =>
      storeReplannedLines(trx, {
        runId: run.runId,
        lines: [{ plan: anew, reason: "its amount has changed" }],
        nowMs: Date.now(),
      }),
    );
    for (const answer of [
      await cora.send(checked, `${page}/approve`, CALLED),
      await cora.get(check()),
      await cora.get(`${page}/reject?plan=${run.planHash}`),
    ]) {
      expect(answer.status).toBe(409);
      expect(answer.text).toContain("Nothing was decided.");
      expect(answer.text).toContain("1 bill changed");
      expect(answer.text).toContain("$7,293.52 was $6,293.52");
      expect(answer.text).toContain("its amount has changed");
    }
    expect(await counted()).toEqual([]);
  });

  test("counts once for each of two people, and for the wrong role not at all", async () => {
    await cora.send(await cora.get(check()), `${page}/approve`, CALLED);
    const otto = await signedIn(gateway, "otto", ["owner"]);
    const second = await otto.send(await otto.get(check()), `${page}/approve`, CALLED);
    expect(second.text).toMatch(/3 bills, .*go out\./);
    const vera = await signedIn(gateway, "vera", ["viewer"]);
    const refused = await vera.send(await vera.get(check()), `${page}/approve`, {});
    expect(refused.status).toBe(403);
    expect(refused.text).toContain("You may not do this");
    expect(await counted()).toEqual(["cora approve accepted", "otto approve accepted"]);
  });

  test("is refused to the launcher, who is told so before trying", async () => {
    const lou = await signedIn(gateway, "lou", ["controller"]);
    expect((await lou.get(page)).text).toContain("lou launched this run");
    const refused = await lou.send(await lou.get(check()), `${page}/approve`, CALLED);
    expect(refused.status).toBe(403);
    expect(await counted()).toEqual([]);
  });
});

test("Rejecting asks why, and nothing more of the run is paid", async () => {
  const asked = await cora.get(`${page}/reject?plan=${run.planHash}`);
  const silent = await cora.send(asked, `${page}/reject`, { comment: " " });
  expect(silent.status).toBe(422);
  const done = await cora.send(silent, `${page}/reject`, { comment: "wrong week" });
  expect(done.text).toContain("Nothing more of it is paid.");
  expect(await counted()).toEqual(["cora reject accepted"]);
});

describe("Nobody", () => {
  test("sees another business's run, bill or vendor", async () => {
    await gateway.stop();
    gateway = await startTestGateway({
      profiles: [profile(), profile({ name: "beta", businessId: "biz_beta" })],
    });
    run = await seedWeekly(gateway.store);
    const mallory = await signedIn(gateway, "mallory", ["controller", "owner"], ["beta"]);
    for (const path of [page, check(), "/bills/pbl_0101"]) {
      const answer = await mallory.get(path);
      expect(answer.status, path).toBe(404);
      expect(answer.text, path).not.toContain("Northwind");
    }
    for (const path of ["/", "/vendors/con_4", "/reports", "/holds"]) {
      expect((await mallory.get(path)).text, path).not.toMatch(/weekly|Northwind/);
    }
  });

  test("does anything by a form that another page made", async () => {
    const fields = { plan: run.planHash, ...CALLED };
    const forged = await cora.post(`${page}/approve`, fields);
    expect(forged.status).toBe(403);
    const elsewhere = await cora.browser.post(`${page}/approve`, fields, "https://evil.example");
    expect(elsewhere.status).toBe(403);
    expect(await counted()).toEqual([]);
  });

  test("does anything by a form whose sign-in has ended, and is told so before they sign in again", async () => {
    const nobody = new Visits(new Browser(gateway.url));
    const answer = await nobody.post(`${page}/approve`, { plan: run.planHash, ...CALLED });
    expect(answer.text).toContain("Your sign-in had ended, so nothing was done.");
    expect(await counted()).toEqual([]);
  });

  test("who is not signed in gets a page: they sign in first, and come back to it", async () => {
    const answer = await fetch(`${gateway.url}${page}`, { redirect: "manual" });
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toBe(`/sign-in?to=${encodeURIComponent(page)}`);
    expect(
      (await fetch(`${gateway.url}/v1${page}`, { headers: { cookie: cora.browser.cookie } }))
        .status,
    ).toBe(401);
  });
});

describe("Above the profile's amount", () => {
  let nowMs = Date.now();
  let token: string;

  beforeEach(async () => {
    await gateway.stop();
    nowMs = Date.now();
    const careful = profile({ signIn: { freshOverCents: 100_000 } });
    gateway = await startTestGateway({ profiles: [careful], nowMs: () => nowMs });
    run = await seedWeekly(gateway.store);
    cora = await signedIn(gateway, "cora", ["controller"]);
    token = await gateway.token("cora", ["controller"]);
  });

  async function signInAgain(by: string): Promise<void> {
    const link = await gateway.call("POST", "/v1/sign-in-links", by);
    await cora.browser.post("/sign-in", { code: String(link.json["code"]), to: "/" });
  }

  /** More than an address carries over a sign-in. */
  const OUT = Array.from({ length: 40 }, (_, no) => `pbl_${String(no + 115).padStart(4, "0")}`);

  /** Approves with what was filled in too long after the sign-in. @returns where to go on */
  async function asked(): Promise<string> {
    nowMs += 16 * 60_000;
    const filled = { ...CALLED, comment: "disputed" };
    const refused = await cora.send(await cora.get(check(OUT)), `${page}/approve`, filled);
    expect(refused.status).toBe(403);
    expect(refused.text).toContain("Sign in again first");
    expect(await counted()).toEqual([]);
    const [, to = ""] = /sign-in\?again=true&amp;to=([^"]+)/.exec(refused.html) ?? [];
    expect(decodeURIComponent(to)).toBe(`${check()}&kept=yes`);
    return decodeURIComponent(to);
  }

  test("what was typed is there again after a newer sign-in, and decides nothing before it is sent again", async () => {
    const to = await asked();
    await signInAgain(token);
    const again = await cora.get(to);
    expect(again.text).toContain("You leave out 40 bills");
    for (const typed of [...Object.values(CALLED), "disputed"]) {
      expect(again.html).toContain(`value="${typed}"`);
    }
    expect(again.text).toContain("Nothing is decided yet");
    expect(await counted()).toEqual([]);
    const done = await cora.send(again, `${page}/approve`, { ...CALLED, comment: "disputed" });
    expect(done.text).toContain("40 bills left out.");
    expect(await counted()).toEqual(["cora approve accepted"]);
  });

  test("it is there for nobody else at the same browser, for no other page, and not for long", async () => {
    const to = await asked();
    const typed = 'value="Ann Lee, accounts"';
    await signInAgain(token);
    const other = to.replace(run.planHash, "another");
    expect((await cora.get(other)).html).not.toContain(typed);
    await signInAgain(await gateway.token("otto", ["controller", "owner"]));
    expect((await cora.get(to)).html).not.toContain(typed);
    nowMs += 16 * 60_000;
    await signInAgain(token);
    expect((await cora.get(to)).html).not.toContain(typed);
  });
});

test("Nobody fills in for whoever follows a link: what an address says of a call is not in the form", async () => {
  const link = `${check()}&${new URLSearchParams({ ...CALLED, comment: "as agreed" }).toString()}`;
  const { html } = await cora.get(link);
  expect(html).not.toContain("Ann Lee");
  expect(html).not.toContain("as agreed");
});

test("Pages load nothing from elsewhere, run nothing inline and are framed by nobody", async () => {
  const { headers, html } = await cora.get(page);
  expect(headers.get("content-security-policy")).toBe(
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  );
  expect(headers.get("cache-control")).toBe("no-store");
  expect(html).not.toMatch(/ style="| on\w+="|javascript:/);
  for (const [, address = ""] of html.matchAll(/(?:href|src)="(\/console\/[^"]+)"/g)) {
    const file = await fetch(`${gateway.url}${address}`);
    expect(file.status).toBe(200);
    expect(file.headers.get("cache-control")).toContain("immutable");
    const most = address.includes(".css") ? 20_480 : 3_072;
    expect((await file.arrayBuffer()).byteLength).toBeLessThan(most);
  }
});
