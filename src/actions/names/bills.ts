import type { Name } from "../../domain/names.ts";
import type { Payable, PayableListItem } from "../../payments-api/index.ts";
import { readMoney } from "../../playbooks/texts.ts";
import { getRunLines } from "../../store/lines/lines.ts";
import { linesWithParts } from "../../store/payables/line-parts.ts";
import { billsStanding } from "../../store/names/bills-standing.ts";
import { namesCalled, namesOfKind, namesWith } from "../../store/names/names.ts";
import { NEAR_MOST } from "../../domain/suggest.ts";
import {
  answerOrReason,
  type Found,
  isCalled,
  type Looking,
  type Named,
  NAMES_COMPARED,
  nearestNames,
  nothing,
  soon,
  unlessUnknown,
  walking,
} from "./found.ts";

/** A bill's names, and its state at the service if that was read. */
interface Bill extends Name {
  readonly atService?: string;
}

/** Finds bills by id, number or their vendor's name, in the store and at the service. */
export async function findBills(looking: Looking): Promise<Found> {
  const { text, runId } = looking;
  const kept = await keptBills(looking);
  const certain = kept.exact.filter((bill) => bill.id === text || isNumber(bill, text));
  if (certain.length > 0) return shown(looking, { exact: certain, near: [] });
  if (runId !== undefined) return shown(looking, kept);
  const service = await billsAtService(looking);
  const bills = new Map([...kept.exact, ...service.exact].map((bill) => [bill.id, bill]));
  const near = new Map([...kept.near, ...service.near].map((bill) => [bill.id, bill]));
  const { unread } = service;
  return shown(looking, { exact: [...bills.values()], near: [...near.values()], unread });
}

function isNumber(bill: Name, text: string): boolean {
  return isCalled({ number: bill.number, name: null }, text);
}

interface Bills {
  readonly exact: readonly Bill[];
  readonly near: readonly Bill[];
  readonly unread?: string | undefined;
}

/** Finds bills that runs have seen. */
async function keptBills({ context, profile, text, runId, thorough }: Looking): Promise<Bills> {
  const { db } = context.store;
  const { businessId } = profile;
  const ofRun = async (bills: readonly Name[]): Promise<readonly Name[]> => {
    if (runId === undefined || bills.length === 0) return bills;
    const ids = bills.map(({ id }) => id);
    const inRun = new Set((await getRunLines(db, runId, ids)).map(({ payableId }) => payableId));
    return bills.filter(({ id }) => inRun.has(id));
  };
  const exact = await ofRun(await namesCalled(db, { businessId, kind: "bill", text }));
  if (exact.length > 0) return { exact, near: [] };
  const money = readMoney(text.startsWith("$") ? text : `$${text}`);
  const amountCents = money.ok ? money.value : undefined;
  const part = { businessId, kind: "bill", text, amountCents, limit: NEAR_MOST } as const;
  const near = await ofRun(await namesWith(db, part));
  if (near.length > 0 || !thorough) return { exact, near };
  const known = await namesOfKind(db, businessId, "bill", NAMES_COMPARED);
  return { exact, near: await ofRun(nearestNames(known, text)) };
}

/** Finds bills at the service. */
async function billsAtService({ context, profile, text, thorough }: Looking): Promise<Bills> {
  const client = context.clientOf(profile);
  const { value, unread } = await answerOrReason(async (): Promise<Bills> => {
    const one = await unlessUnknown(() => client.payables.get(text, soon()));
    if (one !== null) return { exact: [billOf(one)], near: [] };
    const page = await client.payables.list({ search: text, pageSize: SEARCHED_MOST }, soon());
    const searched = await whole(page.items);
    const called = searched.filter((bill) => isCalled(bill, text));
    if (called.length > 0) return { exact: called, near: [] };
    const near = nearestNames(searched, text);
    if (!thorough) return { exact: [], near };
    // It is undocumented which fields the service's search covers, so all pages are read.
    const all: Bill[] = [];
    for await (const items of client.payables.iteratePages({}, walking())) {
      const bills = await whole(items);
      const numbered = bills.filter((bill) => isNumber(bill, text));
      if (numbered.length > 0) return { exact: numbered, near: [] };
      all.push(...bills);
    }
    const exact = all.filter((bill) => isCalled(bill, text));
    return { exact, near: near.length > 0 ? near : nearestNames(all, text) };
  });
  return value ?? { exact: [], near: [], unread };

  /**
   * Completes list items. Their shape is undocumented, so an item without number or vendor is read
   * by itself.
   */
  async function whole(items: readonly PayableListItem[]): Promise<Bill[]> {
    const bills: Bill[] = [];
    for (let start = 0; start < items.length; start += SINGLE_READS) {
      const read = items.slice(start, start + SINGLE_READS).map(async (item) => {
        const isTold = item.publicId !== undefined && item.contact !== undefined;
        return isTold ? item : unlessUnknown(() => client.payables.get(item.id, soon()));
      });
      bills.push(
        ...(await Promise.all(read)).flatMap((bill) => (bill === null ? [] : billOf(bill))),
      );
    }
    return bills;
  }
}

/** Bills read one by one at the same time, if the list leaves fields out. */
const SINGLE_READS = 10;

/** Most bills that one search takes from the service. */
const SEARCHED_MOST = 100;

function billOf(bill: Payable | PayableListItem): Bill {
  const { id, publicId, contact, totalAmountCents, paymentStatus, status } = bill;
  const isPaying = paymentStatus !== undefined && paymentStatus !== "none";
  const atService = isPaying ? paymentStatus : status;
  return {
    kind: "bill",
    id,
    number: publicId ?? null,
    name: contact?.displayName ?? null,
    contactId: contact?.id ?? null,
    amountCents: totalAmountCents ?? null,
    ...(atService == null ? {} : { atService }),
  };
}

/**
 * Adds the bills' states. Of the bills that a name matches, those that are over are dropped, unless
 * all of them are or the caller wants them.
 */
async function shown(
  { context, profile, text, overToo = false }: Looking,
  { exact, near, unread }: Bills,
): Promise<Found> {
  const ids = [...exact, ...near].map(({ id }) => id);
  if (ids.length === 0) return nothing(unread);
  const { db } = context.store;
  const { businessId } = profile;
  const stand = [...(await billsStanding(db, businessId, ids)).values()];
  const lines = await linesWithParts(db, businessId, stand);
  const standing = new Map(lines.map((line) => [line.payableId, line]));
  const named = (bill: Bill): Named & { readonly isOver: boolean } => {
    const { id, number, name } = bill;
    const line = standing.get(id);
    const isLine = line !== undefined && line.leftOut === null;
    const state = isLine ? line.state : (bill.atService ?? line?.leftOut ?? null);
    return {
      kind: "bill",
      id,
      business: profile.name,
      number,
      name,
      state,
      amountCents: isLine ? line.amountCents : bill.amountCents,
      ...(line?.parts === undefined ? {} : { parts: line.parts }),
      isOver: state !== null && OVER.includes(state),
    };
  };
  const all = exact.map(named);
  const isNamed = (bill: Named) => bill.id === text || isCalled({ ...bill, name: null }, text);
  const open = all.filter((bill) => overToo || isNamed(bill) || !bill.isOver);
  return {
    exact: (open.length > 0 ? open : all).map(withoutMark),
    near: near.map(named).map(withoutMark),
    unread,
  };
}

function withoutMark({ isOver: _, ...named }: Named & { readonly isOver: boolean }): Named {
  return named;
}

/** States in which nothing more happens to a bill, in Payrun's words and in the service's. */
const OVER = ["settled", "paid-elsewhere", "given-up", "paid", "void", "declined"];
