import type { FundingChoice, LineFlag } from "../../../../src/contracts/pay-run.ts";
import type { FundingSource } from "../../../../src/payments-api/index.ts";
import type { Store } from "../../../../src/store/index.ts";
import { seedDeposit } from "../../../console/support/deposit.ts";
import { planLine, seedRun, type SeededRun, setLine } from "../../../gateway/support/rows.ts";
import type { TestSandbox } from "../../../support/sandbox.ts";

interface ServiceBill {
  readonly id: string;
  readonly publicId: string;
  readonly status: string;
  readonly paymentStatus: string;
  readonly contact: { readonly id: string; readonly displayName: string } | null;
}

export interface Globex {
  /** A run that its account covers. */
  readonly enough: SeededRun;
  /** A run that its account covers only in part. */
  readonly short: SeededRun;
  /** A bill of a vendor whose bank account differs from the one that was last paid. */
  readonly changed: ServiceBill;
  /** A bill that no run has seen. */
  readonly unplanned: ServiceBill;
}

const BALANCE: FundingChoice = {
  ...{ sourceId: "balance", rail: "SERVICE", kind: "balance", name: "Balance", last4: null },
  ...{ pay: { paymentRail: "SERVICE", fundingSource: "balance" }, needsAchAuthorization: false },
};

/** The balance, and the part of it that another run has reserved. */
const BALANCE_CENTS = 3_600_000;
const PROMISED_CENTS = 925_000;

const NEW_ACCOUNT: LineFlag = {
  kind: "changed-bank-account",
  text: "The vendor's bank account ends in 4417 now; the last payment from here went to one ending in 6789.",
};

/** Creates two runs at a service that answers; one of them is short of money. */
export async function seedGlobex(store: Store, sandbox: TestSandbox): Promise<Globex> {
  const { businessId } = sandbox.business;
  await sandbox.control.changeBusiness({ balanceCents: BALANCE_CENTS });
  const bank = await bankOf(sandbox);
  const bills = await billsOf(sandbox);
  const open = bills.filter(
    ({ status, paymentStatus, contact }) =>
      status === "approved" && paymentStatus !== "settled" && contact !== null,
  );
  const changed = open.find(({ contact }) => contact?.displayName === "Stonebridge Printing");
  const unplanned = open.find(({ contact }) => contact?.displayName === "Marlowe Advertising");
  if (changed === undefined || unplanned === undefined) throw new Error("no such bills");
  const planned = open.filter((bill) => bill !== changed && bill !== unplanned);
  const of = { business: "globex", businessId, launchedBy: "lou", author: "ada" };
  const lineOf = ({ id, publicId, contact }: ServiceBill, no: number) =>
    planLine(id, {
      ...{ publicId, contactId: contact?.id ?? "", contactName: contact?.displayName ?? "" },
      ...{ amountCents: 245_000 + no * 38_219, totalCents: 245_000 + no * 38_219 },
      ...{ executionDate: "2026-11-25", funding: BALANCE },
    });
  const enough = await seedRun(store, {
    ...{ ...of, period: "2026-11-20", late: "next-business-day" },
    lines: [
      { ...lineOf(changed, 1), flags: [NEW_ACCOUNT], quorum: 2, bankLast4: "6789" },
      ...planned.slice(0, 5).map(lineOf),
      ...planned.slice(5, 7).map((bill, no) => ({ ...lineOf(bill, no), funding: bank })),
    ],
    summary: { source: BALANCE },
  });
  const short = await seedRun(store, {
    ...{ ...of, period: "2026-11-27", late: "next-business-day" },
    lines: planned.slice(7, 19).map(lineOf),
    summary: { source: BALANCE },
  });
  const other = planned.slice(19, 20).map((bill, no) => ({
    ...lineOf(bill, no),
    ...{ amountCents: PROMISED_CENTS, totalCents: PROMISED_CENTS },
  }));
  const promised = await seedRun(store, { ...of, period: "2026-11-13", lines: other });
  for (const { payableId } of other) {
    await setLine(store, promised.runId, payableId, {
      ...{ state: "scheduled", paymentIds: ["pmt_promised"] },
    });
  }
  return { enough, short, changed, unplanned };
}

/** Proposes a deposit of a run, which its page asks about. */
export function askForDeposit(store: Store, run: SeededRun): Promise<void> {
  return seedDeposit(store, { run, owner: run.runId, hash: "g".repeat(64) });
}

async function billsOf(sandbox: TestSandbox): Promise<readonly ServiceBill[]> {
  const bills: ServiceBill[] = [];
  for (let page = 1; page < 20; page += 1) {
    const path = `/v1/payables?pageSize=100&page=${page}`;
    const { items } = (await sandbox.api<{ items: ServiceBill[] }>("GET", path)).body;
    if (items.length === 0) break;
    bills.push(...items);
  }
  return bills;
}

/** Returns a bank account of the business, whose amount is unknown. */
async function bankOf(sandbox: TestSandbox): Promise<FundingChoice> {
  const path = "/v1/funding-sources";
  const { items } = (await sandbox.api<{ items: FundingSource[] }>("GET", path)).body;
  const bank = items.find(({ kind }) => kind === "bank");
  if (bank === undefined) throw new Error("no bank account");
  const { id: sourceId, rail, kind, name, last4 } = bank;
  return { sourceId, rail: rail ?? "", kind, name, last4, pay: {}, needsAchAuthorization: false };
}
