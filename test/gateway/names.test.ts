import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SearchBody } from "../../src/api/names.ts";
import { setRunPhase } from "../../src/store/runs/runs.ts";
import { startOtherService } from "../support/other-service.ts";
import { startSandbox, type TestSandbox } from "../support/sandbox.ts";
import { profile, startTestGateway, type TestGateway } from "./support/gateway.ts";
import { planLine, seedRun, setLine, type SeededRun } from "./support/rows.ts";
import { typed as typedBy } from "./support/typed.ts";

interface ServiceBill {
  readonly id: string;
  readonly publicId: string;
  readonly paymentStatus: string;
  readonly contact: { readonly id: string; readonly displayName: string | null };
}

let sandbox: TestSandbox;
let gateway: TestGateway;
let run: SeededRun;
let bills: readonly ServiceBill[];
let operator: string;

beforeAll(async () => {
  sandbox = await startSandbox({ fixture: "sample" });
  const { businessId, token } = sandbox.business;
  gateway = await startTestGateway({
    profiles: [
      profile({
        ...{ businessId, apiUrl: sandbox.url, sandbox: true },
        token: { kind: "value", value: token },
      }),
    ],
  });
  operator = await gateway.token("oli", ["operator", "launcher", "controller"]);
  const all: ServiceBill[] = [];
  for (let page = 1; page < 20; page += 1) {
    const path = `/v1/payables?pageSize=100&page=${page}`;
    all.push(...(await sandbox.api<{ items: ServiceBill[] }>("GET", path)).body.items);
  }
  bills = all;
  run = await seedRun(gateway.store, {
    businessId,
    lines: [
      planLine("pbl_1", {
        publicId: "BILL-900001",
        contactId: "con_1",
        contactName: "Café Zürich",
      }),
      planLine("pbl_2", {
        publicId: "BILL-900002",
        contactId: "con_1",
        contactName: "Café Zürich",
      }),
      planLine("pbl_3", { publicId: "BILL-900003", contactId: "con_3", contactName: "Ärger & Co" }),
    ],
  });
});
afterAll(async () => {
  await gateway.stop();
  await sandbox.stop();
});

/** Types a command as a person who may do it. */
function typed(...args: readonly string[]) {
  return typedBy(gateway, operator, args);
}

async function held(...args: readonly string[]) {
  const answer = await typed("hold", ...args, "--reason", "odd", "--json");
  const json = answer.json<{ id?: string; scope?: string; value?: string; error?: string }>();
  if (json.id !== undefined) expect((await typed("release", json.id)).code).toBe(0);
  return { ...answer, ...json };
}

/** Returns a bill that no run has seen and that is the only open one of its vendor. */
function vendorOfOneBill() {
  const open = bills.filter(({ paymentStatus }) => paymentStatus !== "settled");
  for (const bill of open) {
    const { id, displayName: name } = bill.contact;
    const isOnly = open.filter((each) => each.contact.displayName === name).length === 1;
    if (name !== null && isOnly) return { ...bill, contact: { id, name } };
  }
  throw new Error("the sample has no such vendor");
}

describe("a hold is set by the names that people use", () => {
  test("a hold finds a bill by its number, even if only the service knows it", async () => {
    const { id, publicId } = vendorOfOneBill();
    expect(await held(publicId)).toMatchObject({ code: 0, scope: "payable", value: id });
    expect(await held(publicId.toLowerCase())).toMatchObject({ code: 0, value: id });
  });

  test("a hold finds a vendor by name in any capitals and accents", async () => {
    const { contact } = vendorOfOneBill();
    const asked = ["--contact", contact.name.toUpperCase()];
    expect(await held(...asked)).toMatchObject({ code: 0, scope: "contact", value: contact.id });
    expect(await held("--contact", "cafe zurich")).toMatchObject({ code: 0, value: "con_1" });
  });

  test("a hold finds a bill by its vendor's name if the vendor has only one", async () => {
    expect(await held("ärger & co")).toMatchObject({ code: 0, scope: "payable", value: "pbl_3" });
    const { id, contact } = vendorOfOneBill();
    expect(await held(contact.name)).toMatchObject({ code: 0, value: id });
  });

  test("a vendor's name with several bills is refused with a list of them", async () => {
    const answer = await held("Café Zürich");
    expect(answer).toMatchObject({ code: 2, error: "ambiguous" });
    expect(answer.stderr).toContain("BILL-900001");
    expect(answer.stderr).toContain("BILL-900002");
    expect(answer.stderr).toContain("--contact");
    await setLine(gateway.store, run.runId, "pbl_1", { state: "settled" });
    expect(await held("Café Zürich")).toMatchObject({ code: 0, value: "pbl_2" });
    await setLine(gateway.store, run.runId, "pbl_1", { state: "awaiting-approval" });
  });

  test("a hold finds an account, a run and a playbook by their usual names", async () => {
    expect(await held("--source", "balance")).toMatchObject({ code: 0, scope: "source" });
    const { body } = await sandbox.api<{ items: { id: string; last4: string | null }[] }>(
      "GET",
      "/v1/funding-sources",
    );
    const { id } = body.items.find(({ last4 }) => last4 === "7710") ?? {};
    for (const text of ["prairie savings", "7710", "··7710", "Prairie Savings ··7710"]) {
      const answer = await held("--source", text);
      expect(answer, text).toMatchObject({ code: 0, scope: "source", value: id });
    }
    const several = await held("--source", "4821");
    expect(several).toMatchObject({ code: 2, error: "ambiguous" });
    expect(several.stderr).toMatch(/First Harbor Bank .* linked_bank [^]*Name one by .* its id\./);
    expect(await held("--run", "weekly")).toMatchObject({ code: 0, value: run.runId });
    expect(await held("--run", "weekly/2026-11-20")).toMatchObject({ code: 0, value: run.runId });
    expect(await held("--playbook", "Weekly")).toMatchObject({ code: 0, value: "weekly" });
  });

  test("a playbook's bare name means its regular run, not an off-cycle run that is over", async () => {
    const { businessId } = sandbox.business;
    const later = await seedRun(gateway.store, {
      businessId,
      period: "2026-11-21-pay-0123456789ab",
      lines: [planLine("pbl_9")],
    });
    expect(await held("--run", "weekly")).toMatchObject({ code: 0, value: later.runId });
    await setRunPhase(gateway.store.db, later.runId, { phase: "completed" });
    expect(await held("--run", "weekly")).toMatchObject({ code: 0, value: run.runId });
  });

  test.each([
    [["BILL-90003"], "BILL-900003"],
    [["--contact", "Arger"], "Ärger & Co"],
    [["--contact", "Cafee"], "Café Zürich"],
    [["--contact", "con_nonsense"], "no vendor"],
    [["--source", "nope"], "no funding account “nope”; there are:"],
    [["--run", "weekly/2020-01-01"], "weekly/2026-11-20"],
    [["--run", "wekly"], "weekly/2026-11-20"],
    [["--playbook", "weekl"], "weekly"],
  ])("a hold on %j is refused with the nearest names", async (args, words) => {
    const answer = await held(...args);
    expect(answer).toMatchObject({ code: 2, error: "not_found" });
    expect(answer.stderr).toContain(words);
  });
});

test("explain refuses a vendor's name with several bills, settled ones included", async () => {
  await setLine(gateway.store, run.runId, "pbl_1", { state: "settled" });
  const answer = await typed("explain", "Café Zürich");
  await setLine(gateway.store, run.runId, "pbl_1", { state: "awaiting-approval" });
  expect(answer.code).toBe(2);
  expect(answer.stderr).toMatch(/may be any of 2 bills:[^]*BILL-900001[^]*BILL-900002/);
});

test("a hold is released by the name of what it holds", async () => {
  for (const [set, lifted] of [
    [["BILL-900003"], "BILL-900003"],
    [["--contact", "Café Zürich"], "cafe zürich"],
    // Typed with letters and marks apart, as some systems write them.
    [["--contact", "Cafe\u0301 Zu\u0308rich"], "CAFE\u0301 Zu\u0308rich"],
    [["--all"], "everything"],
  ] as const) {
    expect((await typed("hold", ...set, "--reason", "odd")).code).toBe(0);
    expect(await typed("release", lifted)).toMatchObject({ code: 0 });
  }
  expect(await typed("release", "BILL-900003")).toMatchObject({ code: 2 });
});

test("the routes refuse an unknown id with the nearest ones", async () => {
  const body = { contactId: "con_nonsense", reason: "r" };
  expect(await gateway.call("POST", "/v1/holds", operator, body)).toMatchObject({ status: 404 });
  const near = { payableId: "BILL-900003", reason: "r" };
  const answer = await gateway.call("POST", "/v1/holds", operator, near);
  expect(answer.status).toBe(404);
  expect(answer.json["message"]).toContain("pbl_3 (BILL-900003, Ärger & Co, $100.00)");
});

test("every other command takes the names of bills and runs as well", async () => {
  expect(await typed("explain", "BILL-900003")).toMatchObject({ code: 0 });
  expect((await typed("explain", "BILL-999999")).code).toBe(2);
  const status = await typed("status", "weekly/2026-11-20", "--json");
  expect(status.json()).toMatchObject({ id: run.runId });
  for (const command of ["status", "watch", "report", "approve", "reject", "cancel"]) {
    const yes = command === "approve" ? ["--yes"] : [];
    const answer = await typed(command, "weekly/1999-01-01", ...yes);
    expect(answer.code, command).toBe(2);
    expect(answer.stderr, command).toContain("weekly/2026-11-20");
  }
  expect((await typed("pay", "BILL-999999")).code).toBe(2);
  await setLine(gateway.store, run.runId, "pbl_2", { state: "parked" });
  const resolved = ["resolve", "Café Zürich", "--give-up", "--reason", "a duplicate", "--yes"];
  expect(await typed(...resolved)).toMatchObject({ code: 0 });
  // The name now leaves another bill, which waits for its approval.
  const again = await typed(...resolved);
  expect(again.code).toBe(1);
  expect(again.stdout).toMatch(
    /✗ Café Zürich BILL-\d+: Only a parked bill can be resolved; this one is awaiting-approval/,
  );
});

test("approve drops a bill by its number, under the short plan hash that status shows", async () => {
  const seeded = await seedRun(gateway.store, {
    businessId: sandbox.business.businessId,
    period: "2026-11-27",
    lines: ["pbl_8", "pbl_9"].map((id, index) =>
      planLine(id, { publicId: `BILL-80000${index + 1}` }),
    ),
  });
  const approve = ["approve", "weekly/2026-11-27", "--yes", "--plan-hash"];
  const shown = seeded.planHash.slice(0, 12);
  expect(await typed(...approve, shown, "--drop", "BILL-900003")).toMatchObject({ code: 2 });
  expect((await typed(...approve, seeded.planHash.slice(0, 11))).stderr).toContain("changed");
  const answer = await typed(...approve, shown, "--drop", "BILL-800002", "--json");
  expect(answer.json()).toMatchObject({ accepted: true, dropped: ["pbl_9"] });
});

test("cancel-scheduled takes a bill's number, and refuses a bill without a scheduled payment", async () => {
  const bill = vendorOfOneBill();
  const none = await typed("cancel-scheduled", bill.publicId);
  expect(none.code).toBe(2);
  const unknown = await typed("cancel-scheduled", "BILL-999999");
  expect(unknown).toMatchObject({ code: 2 });
  expect(unknown.stderr).toContain("there is no payment “BILL-999999”");
  const unpaid = await typed("cancel-scheduled", "BILL-900003");
  expect(unpaid).toMatchObject({ code: 2 });
  expect(unpaid.stderr).toContain("“BILL-900003” has no payment that is scheduled or held");
  expect(unpaid.stderr).toContain("payrun hold BILL-900003 --reason");
  const scheduled = bills.find(({ paymentStatus }) => paymentStatus === "scheduled");
  const query = new URLSearchParams({ kind: "payment", q: scheduled?.publicId ?? "" });
  const found = await gateway.call("GET", `/v1/search?${query.toString()}`, operator);
  const { exact } = SearchBody.parse(found.json);
  if (scheduled !== undefined) expect(exact).toMatchObject([{ payableId: scheduled.id }]);
});

test("a search finds bills, vendors, runs and playbooks by part of a name or by amount", async () => {
  const found = async (q: string) => {
    const answer = await gateway.call("GET", `/v1/search?q=${encodeURIComponent(q)}`, operator);
    const { exact, near } = SearchBody.parse(answer.json);
    return [...exact, ...near].map(({ kind, id }) => `${kind} ${id}`);
  };
  expect(await found("zurich")).toEqual(
    expect.arrayContaining(["bill pbl_1", "bill pbl_2", "vendor con_1"]),
  );
  expect(await found("$100.00")).toContain("bill pbl_3");
  expect(await found("weekly")).toEqual(
    expect.arrayContaining(["playbook weekly", expect.stringMatching(/^run /)]),
  );
});

test("a text of nothing but accents and space matches nothing, in a search, a completion and a command", async () => {
  const accents = encodeURIComponent(" \u0301 \u0327");
  const found = await gateway.call("GET", `/v1/search?q=${accents}`, operator);
  expect(found.json).toEqual({ exact: [], near: [], unread: [] });
  for (const kind of ["vendor", "bill", "playbook"]) {
    const path = `/v1/names?kind=${kind}&begins=${accents}`;
    expect((await gateway.call("GET", path, operator)).json, kind).toEqual({ names: [] });
  }
  expect((await gateway.call("GET", "/v1/names?kind=bill", operator)).json["names"]).not.toEqual(
    [],
  );
  expect(await held("--contact", "\u0301")).toMatchObject({ code: 2, error: "not_found" });
});

test("while the service is away, a hold finds what the store knows and says what it can't look up", async () => {
  const away = await startTestGateway();
  try {
    await seedRun(away.store, { lines: [planLine("p1")] });
    const token = await away.token("oli", ["operator"]);
    const hold = (...args: readonly string[]) =>
      typedBy(away, token, ["hold", ...args, "--reason", "odd"]);
    expect(await hold("BILL-p1")).toMatchObject({ code: 0 });
    expect(await hold("--contact", "vendor of P1")).toMatchObject({ code: 0 });
    expect(await hold("--source", "balance")).toMatchObject({ code: 0 });
    const other = await hold("--contact", "Osprey Robotics");
    expect(other.code).toBe(4);
    expect(other.stderr).toContain("service of acme can't be asked");
  } finally {
    await away.stop();
  }
});

test.each(["id-and-status", "whole"] as const)(
  "the list of a service without search, with items as %s, is read to its end",
  async (payableListItems) => {
    const service = await startOtherService({ payableListItems, ids: "odd" });
    const { url: apiUrl, businessId } = service;
    const token = { kind: "value", value: service.token } as const;
    const other = await startTestGateway({ profiles: [profile({ apiUrl, businessId, token })] });
    try {
      const payables = service.bills(Array.from({ length: 120 }, (_, index) => 1_000 + index));
      const last = payables.at(-1);
      const contact = service.book.contacts.get(last?.contactId ?? "");
      const anyone = await other.token("vera", ["viewer"]);
      const find = async (kind: string, q: string) => {
        const query = new URLSearchParams({ kind, q });
        const answer = await other.call("GET", `/v1/search?${query.toString()}`, anyone);
        return SearchBody.parse(answer.json).exact.map(({ id }) => id);
      };
      expect(await find("bill", last?.id ?? "")).toEqual([last?.id]);
      expect(await find("bill", contact?.displayName ?? "")).toEqual([last?.id]);
      expect(await find("vendor", contact?.displayName ?? "")).toEqual([contact?.id]);
      expect(await find("vendor", "..")).toEqual([]);
    } finally {
      await other.stop();
      await service.stop();
    }
  },
);
