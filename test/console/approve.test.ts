import { describe, expect, onTestFinished, vi } from "vitest";
import { listAudit } from "../../src/store/audit/audit.ts";
import { getPlanLine } from "../../src/store/lines/plan-lines.ts";
import { storeReplannedLines } from "../../src/store/plans/replan-writes.ts";
import { profile, type TestGateway } from "../gateway/support/gateway.ts";
import { serviceWithoutSources } from "../gateway/support/funding-service.ts";
import { gatewayOf } from "../gateway/support/gateway-test.ts";
import { lineState, type SeededRun } from "../gateway/support/rows.ts";
import { signedIn } from "./support/visits.ts";
import { approverTest, CALLED, checkOf, decidedIn } from "./support/approvals.ts";
import { seedWeekly } from "./support/weekly-run.ts";

const test = approverTest;

const check = (run: SeededRun, out?: readonly string[]) => checkOf(run, out);
const counted = (gateway: TestGateway, run: SeededRun) => decidedIn(gateway, run);

test("Today says which bills wait for whom; a run doesn't wait for its launcher's approval", async ({
  gateway,
  cora,
}) => {
  const mine = await cora.get("/");
  expect(mine.text).toContain("57 bills of");
  expect(mine.text).toContain("1 more waits for others");
  const otto = await (await signedIn(gateway, "otto", ["owner"])).get("/");
  expect(otto.text).toContain("58 bills, all wait for you");
  const lou = await (await signedIn(gateway, "lou", ["controller", "owner"])).get("/");
  expect(lou.text).toContain("No run waits for your approval.");
  expect(lou.text).toContain("58 bills, for owner or controller");
});

test("a run's page offers each person the decisions that count: a viewer none, its launcher a rejection", async ({
  gateway,
  page,
}) => {
  const offered = async (name: string, roles: readonly string[]): Promise<boolean[]> => {
    const { text } = await (await signedIn(gateway, name, roles)).get(page);
    return ["Check and approve", "Reject the plan", "Leave out"].map((act) => text.includes(act));
  };
  expect(await offered("cora", ["controller"])).toEqual([true, true, true]);
  expect(await offered("lou", ["controller"])).toEqual([false, true, false]);
  expect(await offered("vera", ["viewer"])).toEqual([false, false, false]);
});

test("Today names the commands for what has no page yet, even once there are runs", async ({
  cora,
}) => {
  const { text } = await cora.get("/");
  for (const command of ["schedule list", "playbook list", "launch kyb-onboarding", "audit verify"])
    expect(text).toContain(`payrun ${command}`);
});

test("the page before an approval says that the account can't pay any more", async () => {
  const gateway = await gatewayOf({
    profiles: [profile({ apiUrl: await serviceWithoutSources() })],
  });
  const run = await seedWeekly(gateway.store);
  const cora = await signedIn(gateway, "cora", ["controller"]);
  expect((await cora.get(check(run))).text).toContain(
    "can't pay: the service doesn't list it any more",
  );
});

describe("Approving", () => {
  test("a run's page shows its sum, odd and late bills; approving first asks about the new account", async ({
    gateway,
    run,
    cora,
    page,
  }) => {
    const shown = await cora.get(page);
    expect(shown.status).toBe(200);
    for (const said of [
      "Your approval lets",
      "Odd: 2 bills",
      "Northwind Freight",
      "The vendor's bank account ends in 4417 now",
      "Same vendor and amount as bill BILL-000012",
      "All bills (58)",
      "Page 1 of 2",
    ]) {
      expect(shown.text).toContain(said);
    }
    const checked = await cora.get(check(run));
    expect(checked.text).toContain("Whom did you call?");
    expect(await counted(gateway, run)).toEqual([]);
    const done = await cora.send(checked, `${page}/approve`, CALLED);
    expect(done.text).toMatch(
      /55 bills, \$[\d,.]+, go out[^;]*; 2 need a second person .*, 1 needs the owner\./,
    );
    expect(await counted(gateway, run)).toEqual(["cora approve accepted"]);
    expect((await cora.get("/")).text).toContain("No run waits for your approval.");
    // The bills are as late as they would be if approved on the day of this test run.
    expect(shown.text).toMatch(/\b(?:[7-9]|\d{2,}) days/);
  });

  test("a run's page shows the five latest bills and folds the other late ones", async ({
    page,
  }) => {
    // An instant before the bills' execution dates: after them, all bills get another day, and most
    // are late.
    const [began, at] = [Date.now(), Date.parse("2026-11-20T15:00:00Z")];
    const real = Date.now;
    vi.spyOn(Date, "now").mockImplementation(() => at + real() - began);
    onTestFinished(() => void vi.restoreAllMocks());
    const gateway = await gatewayOf();
    await seedWeekly(gateway.store, 220);
    const cora = await signedIn(gateway, "cora", ["controller"]);
    const { html } = await cora.get(page);
    const [, late = ""] = html.split("Late: 11 bills");
    const [shown = "", folded = ""] = late.split("6 more late bills");
    expect(shown.match(/Late by/g)).toHaveLength(1 + 5);
    expect(folded.split("</details>")[0]?.match(/Late by/g)).toHaveLength(1 + 6);
  });

  test("bills are left out with a reason, even those ticked on another page of the run", async ({
    gateway,
    run,
    cora,
    page,
  }) => {
    const [first, last] = ["pbl_0101", "pbl_0158"];
    const turned = await cora.get(`${page}?page=2&out=${first}&plan=${run.planHash}`);
    expect(turned.html).toMatch(new RegExp(`type="hidden" name="out" value="${first}"`));
    const checked = await cora.get(check(run, [first, last]));
    expect(checked.text).toContain("You leave out 2 bills of");
    const silent = await cora.send(checked, `${page}/approve`, CALLED);
    expect(silent.status).toBe(422);
    expect(silent.text).toContain("Say why they are left out.");
    expect(silent.html).toContain('value="Ann Lee, accounts"');
    const done = await cora.send(silent, `${page}/approve`, { ...CALLED, comment: "disputed" });
    expect(done.text).toContain("2 bills are left out of this run only.");
    expect(done.html).toMatch(new RegExp(`href="/bills/${first}[^"]*">Hold `));
    for (const id of [first, last]) {
      expect(await lineState(gateway.store, run.runId, id)).toBe("cancelled");
    }
  });

  test("an approval decides nothing if a vendor's new bank account was not verified", async ({
    gateway,
    run,
    cora,
    page,
  }) => {
    const checked = await cora.get(check(run));
    const silent = await cora.send(checked, `${page}/approve`, {
      ...{ "whom-con_4": "Ann", "number-con_4": "y" },
    });
    expect(silent.status).toBe(422);
    expect(silent.text).toContain("Say the whole number you called");
    expect(await counted(gateway, run)).toEqual([]);
    const without = await cora.get(check(run, ["pbl_0104"]));
    expect(without.text).not.toContain("Whom did you call?");
  });

  test("how a new bank account was verified is kept in the trail, the report and the bill's history", async ({
    gateway,
    run,
    cora,
    page,
  }) => {
    await cora.send(await cora.get(check(run)), `${page}/approve`, CALLED);
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

  test("approving a plan that has changed in the meantime decides nothing and shows the difference", async ({
    gateway,
    run,
    cora,
    page,
  }) => {
    const checked = await cora.get(check(run));
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
      await cora.get(check(run)),
      await cora.get(`${page}/reject?plan=${run.planHash}`),
    ]) {
      expect(answer.status).toBe(409);
      expect(answer.text).toContain("Nothing was decided.");
      expect(answer.text).toContain("1 bill changed");
      expect(answer.text).toContain("$7,293.52 was $6,293.52");
      expect(answer.text).toContain("its amount has changed");
    }
    expect(await counted(gateway, run)).toEqual([]);
  });

  test("approvals of two people count once each, and one of the wrong role not at all", async ({
    gateway,
    run,
    cora,
    page,
  }) => {
    await cora.send(await cora.get(check(run)), `${page}/approve`, CALLED);
    const otto = await signedIn(gateway, "otto", ["owner"]);
    const second = await otto.send(await otto.get(check(run)), `${page}/approve`, CALLED);
    expect(second.text).toMatch(/ 3 bills, \$[\d,.]+, go out/);
    const vera = await signedIn(gateway, "vera", ["viewer"]);
    const refused = await vera.send(await vera.get(check(run)), `${page}/approve`, {});
    expect(refused.status).toBe(403);
    expect(refused.text).toContain("You may not do this");
    expect(await counted(gateway, run)).toEqual(["cora approve accepted", "otto approve accepted"]);
  });

  test("the launcher's approval is refused, and the page says so beforehand", async ({
    gateway,
    run,
    page,
  }) => {
    const lou = await signedIn(gateway, "lou", ["controller"]);
    expect((await lou.get(page)).text).toContain("lou launched this run");
    const refused = await lou.send(await lou.get(check(run)), `${page}/approve`, CALLED);
    expect(refused.status).toBe(403);
    expect(await counted(gateway, run)).toEqual([]);
  });
});

test("rejecting needs a reason, and nothing more of the run is paid", async ({
  gateway,
  run,
  cora,
  page,
}) => {
  const asked = await cora.get(`${page}/reject?plan=${run.planHash}`);
  const silent = await cora.send(asked, `${page}/reject`, { comment: " " });
  expect(silent.status).toBe(422);
  const done = await cora.send(silent, `${page}/reject`, { comment: "wrong week" });
  expect(done.text).toContain("Nothing more of it is paid.");
  expect(await counted(gateway, run)).toEqual(["cora reject accepted"]);
});
