import { expect, vi } from "vitest";
import type { CancellationStatus } from "../../src/api/cancellations.ts";
import type { IncidentStatus } from "../../src/api/incidents.ts";
import { CancellationStatusBody } from "../../src/api/cancellations.ts";
import { incidentLines } from "../../src/cli/show/incident.ts";
import { PAYRUN } from "../../src/contracts/authors.ts";
import { fundingIncidentId, incidentCancellationId } from "../../src/contracts/workflow-kinds.ts";
import { cancelOfHeld, cancelOfPayments } from "../../src/domain/cancellations/policy.ts";
import { leftToPeople, TOO_LATE } from "../../src/domain/cancellations/left-to-people.ts";
import {
  type CancellationItem,
  insertItem,
  listItems,
} from "../../src/store/cancellations/cancellation-items.ts";
import {
  changeCancellation,
  insertCancellation,
} from "../../src/store/cancellations/cancellations.ts";
import { openIncident } from "../../src/store/incidents/incidents.ts";
import { signedIn } from "../console/support/visits.ts";
import { gatewayTest } from "./support/gateway-test.ts";
import type { TestGateway } from "./support/gateway.ts";
import { planLine, seedRun, setLine } from "./support/rows.ts";
import { typed } from "./support/typed.ts";

const test = gatewayTest().extend("operator", ({ gateway }) => gateway.token("oli", ["operator"]));
test.beforeEach(async ({ gateway }) => {
  const vendor = { contactId: "con_osprey", contactName: "Osprey Robotics" };
  await seedRun(gateway.store, { lines: [planLine("p1", { ...vendor, amountCents: 11_100 })] });
});

async function cancelled(
  gateway: TestGateway,
  request: string,
  payableIds: readonly string[],
  end: CancelEnd = { state: "cancelled", reason: "No money moved." },
): Promise<string> {
  const { store } = gateway;
  const workflowId = `cancel-scheduled-payments/acme/${request}`;
  const asked = { businessId: "biz_acme", business: "acme", playbook: "", runId: null };
  await store.transaction((trx) =>
    insertCancellation(trx, {
      ...{ ...asked, workflowId, policy: cancelOfPayments([]) },
      ...{ reason: "wrong", requestedBy: "cora", nowMs: Date.now() },
    }),
  );
  for (const [itemNo, payableId] of payableIds.entries()) {
    const money = { contactId: "con_osprey", amountCents: 11_100, holdId: null };
    await insertItem(
      store.db,
      {
        ...{ workflowId, itemNo, businessId: "biz_acme", payableId },
        ...{ paymentId: `pmt_${payableId}`, ...money, ...end, open: false },
      },
      Date.now(),
    );
  }
  const waitingFor = leftToPeople(await listItems(store.db, workflowId), Date.now());
  const phase = waitingFor === null ? "completed" : "completed-with-exceptions";
  await changeCancellation(store.db, workflowId, { phase, waitingFor, endedAtMs: Date.now() });
  return workflowId;
}

type CancelEnd = Pick<CancellationItem, "state" | "reason"> &
  Partial<Pick<CancellationItem, "goesOutAtMs">>;

test("a cancellation that makes progress no longer shows why its payments waited", async ({
  gateway,
  operator,
}) => {
  const { store } = gateway;
  const workflowId = "cancel-scheduled-payments/acme/going-on";
  await store.transaction((trx) =>
    insertCancellation(trx, {
      ...{ businessId: "biz_acme", business: "acme", playbook: "", runId: null, workflowId },
      ...{ policy: cancelOfPayments([]), reason: "wrong", requestedBy: "cora", nowMs: Date.now() },
    }),
  );
  const reason = "The store was restored. Payrun sends nothing until 12:49 PM.";
  const add = (itemNo: number, item: CancelEnd & { readonly open: boolean }, atMs: number) =>
    insertItem(
      store.db,
      {
        ...{ workflowId, itemNo, businessId: "biz_acme", payableId: `p${itemNo}`, ...item },
        ...{ paymentId: `pmt_p${itemNo}`, contactId: "con", amountCents: 100, holdId: null },
      },
      atMs,
    );
  await add(1, { state: "unknown", reason, open: true }, 2);
  const said = async () => {
    const path = `/v1/runs/${encodeURIComponent(workflowId)}`;
    const { json } = await gateway.call("GET", path, operator);
    return CancellationStatusBody.parse(json).payments[0]?.reason;
  };
  expect(await said()).toBe(reason);
  await add(2, { state: "cancelled", reason: null, open: false }, 3);
  expect(await said()).toBeNull();
});

test("a cancellation shows vendor, number and amount before payment ids; --json has all of it", async ({
  gateway,
  operator,
}) => {
  const id = await cancelled(gateway, "one", ["p1", "p_unknown"]);
  const { stdout, code } = await typed(gateway, operator, ["status", id]);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /Osprey Robotics BILL-p1 +\$111\.00 +cancelled +No money moved\. +pmt_p1\n/,
  );
  expect(stdout).toMatch(/\np_unknown +\$111\.00 +cancelled +No money moved\. +pmt_p_unknown/);
  const json = (await typed(gateway, operator, ["status", id, "--json"])).json();
  expect(json as CancellationStatus).toMatchObject({
    payments: [
      { paymentId: "pmt_p1", payableId: "p1", publicId: "BILL-p1", contactName: "Osprey Robotics" },
      { payableId: "p_unknown", publicId: null, contactName: null },
    ],
  });
});

test("the list shows whether a cancellation found payments, and their sum", async ({
  gateway,
  operator,
}) => {
  await cancelled(gateway, "none", []);
  await cancelled(gateway, "one", ["p1"]);
  const { stdout } = await typed(gateway, operator, ["status"]);
  expect(stdout).toMatch(/acme\/none +completed +\$0\.00 +found no payment to cancel/);
  expect(stdout).toMatch(/acme\/one +completed +\$111\.00 *\n/);
});

test("a cancellation that came too late says so everywhere, and what a person can do", async ({
  gateway,
  operator,
}) => {
  const end = { state: "too-late", reason: TOO_LATE.atTheBank } as const;
  const id = await cancelled(gateway, "late", ["p1"], end);
  const said =
    "a person, about 1 payment of $111.00: Already with the bank, so the money arrives at the vendor. To have the money back, ask the vendor to return it.";
  for (const words of [["status"], ["status", "--needs-action"], ["status", id], ["show", id]]) {
    const { stdout, code } = await typed(gateway, operator, words);
    expect([code, stdout], words.join(" ")).toEqual([0, expect.stringContaining(said)]);
  }
  const json = (await typed(gateway, operator, ["show", id, "--json"])).json();
  expect(json).toMatchObject({ phase: "completed-with-exceptions", waitingFor: said });
  const olga = await signedIn(gateway, "olga", ["operator"]);
  for (const page of ["/", `/runs/${encodeURIComponent(id)}`]) {
    expect((await olga.get(page)).text, page).toContain(`waits for ${said}`);
  }
});

test("a cancellation offers no recall once its money has gone out, and days later needs no person", async ({
  gateway,
  operator,
}) => {
  const several = { state: "several-scheduled", reason: TOO_LATE.severalScheduled } as const;
  const id = await cancelled(gateway, "split", ["p1"], {
    ...several,
    goesOutAtMs: Date.now() + DAY_MS,
  });
  const olga = await signedIn(gateway, "olga", ["operator"]);
  const said = async (): Promise<string> => {
    const texts: string[] = [];
    for (const words of [["status"], ["status", id], ["show", id], ["explain", "p1"]])
      texts.push((await typed(gateway, operator, words)).stdout);
    for (const page of ["/", `/runs/${encodeURIComponent(id)}`, "/bills/p1?business=acme"])
      texts.push((await olga.get(page)).text);
    return texts.join("\n");
  };
  const outAt = (goesOutAtMs: number) =>
    gateway.store.db
      .updateTable("cancellation_items")
      .set({ goes_out_at_ms: goesOutAtMs })
      .where("workflow_id", "=", id)
      .execute();
  const asking = async (): Promise<string> =>
    (await typed(gateway, operator, ["status", "--needs-action"])).stdout;
  expect((await said()).match(/stop it before then, or the vendor to return it/g)).toHaveLength(11);
  await outAt(Date.now() - DAY_MS / 24);
  const after = await said();
  expect(after).not.toMatch(/before then|goes out on/);
  expect(after.match(/The money went out on \w+, \w+ \d+\. To have the money back/g)).toHaveLength(
    11,
  );
  expect(await asking()).toContain(id.split("/").at(-1));
  await outAt(Date.now() - 12 * DAY_MS);
  expect(await said()).not.toMatch(/[Ww]aits for:? a person/);
  expect(await asking()).not.toContain(id.split("/").at(-1));
  const json = (await typed(gateway, operator, ["status", id, "--json"])).json();
  expect(json).toMatchObject({ needsAction: false, waitingFor: null });
});

const DAY_MS = 86_400_000;

/** Returns the lines that the command prints of an incident of one bill. */
function incidentText(changes: Partial<IncidentStatus> = {}): string[] {
  vi.stubEnv("NO_COLOR", "1");
  const bill = {
    ...{ payableId: "p1", publicId: "BILL-p1" },
    ...{ contactId: "con_1", contactName: "Osprey Robotics" },
  };
  const lines = incidentLines({
    ...{ id: "funding-incident/acme/balance", kind: "funding-incident", business: "acme" },
    ...{
      source: "balance",
      account: "Operating ··6789",
      phase: "open",
      waitingFor: null,
      needsAction: true,
      isFinal: false,
      counts: {},
    },
    ...{ totalCents: 11_100, planHash: null, code: "R01", reason: "short", roles: ["owner"] },
    ...{ holdId: "hold_1", launchedAt: "2026-11-25T10:00:00Z", endedAt: null, decision: null },
    ...{ decidedBy: null, topUps: [] },
    payments: [
      {
        ...bill,
        amountCents: 11_100,
        state: "parked",
        paymentIds: [],
        attempts: 1,
        reasonCode: null,
        reason: null,
      },
    ],
    ...changes,
  });
  vi.unstubAllEnvs();
  return lines;
}

test("an open incident says what waits for it, and a decided one what waited", () => {
  expect(incidentText()).toContain("1 bill of $111.00 waits for it.");
  const decided = { phase: "ended", decision: "released", decidedBy: "cora" } as const;
  expect(incidentText(decided)).toContain("1 bill of $111.00 waited for it.");
  const gone = incidentText({ ...decided, payments: [], totalCents: 0 });
  expect(gone.join("\n")).not.toMatch(/\$0\.00|0 bills/);
});

test("an incident leads with its account, and its bills with vendor and number", () => {
  const lines = incidentText();
  expect(lines[0]).toBe("Operating ··6789  open  funding-incident/acme/balance");
  expect(lines.at(-1)).toMatch(/^Osprey Robotics BILL-p1 +\$111\.00 +parked +p1/);
});

test("an incident whose payments Payrun calls back by itself says so and advises no command, until that has ended", async ({
  gateway,
  operator,
}) => {
  const { store } = gateway;
  const run = await seedRun(store, { period: "2026-12-04", lines: [planLine("called-back")] });
  await setLine(store, run.runId, "called-back", { state: "scheduled" });
  const of = { businessId: "biz_acme", business: "acme" };
  const { incident } = await store.transaction((trx) =>
    openIncident(trx, {
      ...{ ...of, sourceId: "balance", workflowId: fundingIncidentId("acme", "balance") },
      ...{ code: "R01", reason: "short", roles: ["owner"], nowMs: Date.now() },
      failedAtMs: Date.now(),
    }),
  );
  const visits = await signedIn(gateway, "olga", ["owner"]);
  const advised = async () => {
    const { stdout } = await typed(gateway, operator, ["incident"]);
    const { html } = await visits.get("/incidents/balance?business=acme");
    return {
      command: stdout.includes("npx payrun stop --source balance --cancel-scheduled"),
      itself: /Payrun calls them back by itself: npx payrun status (\S+)/.exec(stdout)?.[1],
      page: /(Call back|calls them back by itself)<\/a>/.exec(html)?.[1],
    };
  };
  const byCommand = { command: true, itself: undefined, page: "Call back" };
  expect(await advised()).toEqual(byCommand);
  const workflowId = incidentCancellationId("acme", incident.holdId);
  await store.transaction((trx) =>
    insertCancellation(trx, {
      ...{ ...of, workflowId, playbook: "", runId: null, requestedBy: PAYRUN, reason: "R01" },
      policy: cancelOfHeld({ scope: "source", value: "balance" }, incident.holdId, true),
      nowMs: Date.now(),
    }),
  );
  const status = `incident-${incident.holdId}`;
  expect(await advised()).toEqual({
    ...{ command: false, itself: status, page: "calls them back by itself" },
  });
  const shown = await typed(gateway, operator, ["status", status, "--json"]);
  expect(shown.json()).toMatchObject({ id: workflowId, playbook: null });
  await changeCancellation(store.db, workflowId, { phase: "completed", endedAtMs: Date.now() });
  expect(await advised()).toEqual(byCommand);
});

test("the list of runs says null for a playbook, a period or a launcher that a kind doesn't have", async ({
  gateway,
  operator,
}) => {
  await gateway.store.transaction((trx) =>
    openIncident(trx, {
      ...{ businessId: "biz_acme", business: "acme", sourceId: "balance", code: "R01" },
      ...{ workflowId: fundingIncidentId("acme", "balance"), reason: "short", roles: ["owner"] },
      ...{ nowMs: Date.now(), failedAtMs: Date.now() },
    }),
  );
  const listed = await gateway.call("GET", "/v1/runs?kind=funding-incident", operator);
  const none = { playbook: null, period: null, launchedBy: null };
  expect(listed.json["items"]).toMatchObject([none]);
  await cancelled(gateway, "one", ["p1"]);
  const byHand = await gateway.call("GET", "/v1/runs?kind=cancel-scheduled", operator);
  expect(byHand.json["items"]).toMatchObject([{ playbook: null, period: null }]);
});

test("shell completion offers names with the typed prefix, and none of another business", async ({
  gateway,
  operator,
}) => {
  await cancelled(gateway, "one", ["p1"]);
  const offered = async (token: string, ...words: readonly string[]) => {
    const { code, stdout, stderr } = await typed(gateway, token, ["complete", ...words]);
    expect([code, stderr]).toEqual([0, ""]);
    return stdout.split("\n").filter((line) => line !== "");
  };
  // Completion gives up after a second and offers nothing, so it is tried again on a busy machine.
  const offers = async (words: readonly string[], names: unknown) => {
    await expect.poll(() => offered(operator, ...words)).toEqual(names);
  };
  await offers(["bill"], ["BILL-p1", "Osprey Robotics"]);
  await offers(["bill", "bill-"], ["BILL-p1"]);
  await offers(["bill", "osprey r"], ["Osprey Robotics"]);
  expect(await offered(operator, "bill", "%")).toEqual([]);
  await offers(["vendor", "Os"], ["Osprey Robotics"]);
  await offers(["run", "we"], ["weekly", "weekly/2026-11-20"]);
  await offers(["run"], expect.arrayContaining(["one"]));
  await typed(gateway, operator, ["hold", "BILL-p1", "--reason", "odd"]);
  await offers(["hold"], ["BILL-p1", "Osprey Robotics", expect.stringMatching(/^hold_/)]);
  const others = await gateway.token("mallory", ["operator"], ["beta"]);
  for (const kind of ["bill", "vendor", "run", "account", "hold", "playbook"]) {
    expect(await offered(others, kind), kind).toEqual([]);
  }
  expect(await offered(operator, "no-such-kind")).toEqual([]);
  expect(await offered("of-nobody", "bill")).toEqual([]);
});

test("releasing a hold twice names the command that lists holds, and no route", async ({
  gateway,
  operator,
}) => {
  const held = await typed(gateway, operator, ["hold", "BILL-p1", "--reason", "odd", "--json"]);
  const release = ["release", held.json<{ id: string }>().id];
  expect((await typed(gateway, operator, release)).code).toBe(0);
  const again = await typed(gateway, operator, release);
  expect(again.code).not.toBe(0);
  expect(again.stderr).toMatch(/“(npx )?payrun holds” lists/);
  expect(again.stderr).not.toContain("/v1/");
});

test("a playbook that comes with Payrun but is not stored is refused with its path", async ({
  gateway,
}) => {
  const launcher = await gateway.token("lou", ["launcher"]);
  for (const command of ["plan", "launch"]) {
    const path = "playbooks/month-end-vendors.yaml";
    const refused = await typed(gateway, launcher, [command, "month-end-vendors"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`${path} is the one that comes with Payrun`);
    expect(refused.stderr).toContain(`payrun ${command} ${path}”`);
    const unknown = await typed(gateway, launcher, [command, "month-start"]);
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.not.stringContaining("comes with")]);
  }
});
