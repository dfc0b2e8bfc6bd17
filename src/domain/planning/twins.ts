import type { LineFlag } from "../../contracts/pay-run.ts";
import { daysBetween, utcMsOfDate } from "../clock/dates.ts";
import { newYorkDate } from "../clock/new-york.ts";
import { formatUsd } from "../money.ts";
import { isOnItsWay } from "../payments/payment-states.ts";
import type { Steps } from "../steps.ts";
import { foldedVendorName } from "../vendor-names.ts";
import { isNearlySame, numberForms, numberKeys } from "./bill-numbers.ts";
import type { BillBook, BillFacts } from "./book.ts";
import {
  type DecidedBefore,
  isApprovedPair,
  type RefusedBills,
  refusalText,
} from "./decided-before.ts";
import type { SelectedBill } from "./select.ts";

/** Bills of one amount that are further apart are two bills; with two numbers, much sooner. */
const NEAR_DAYS = 30;
const NEAR_DAYS_OF_TWO_NUMBERS = 7;

/** A flag names this many twins; the others are counted. */
const NAMED = 3;
/** So many bills before and after one are compared with it: equal bills take linear time. */
const COMPARED = 10;

const NUMBER_SHOWN = 40;

/** Bills that nobody asks to be paid: one of the same amount and another number replaces them. */
const NO_LONGER_CLAIMED: ReadonlySet<string> = new Set(["void", "declined"]);

/** Amounts alike differ by so small a part of the larger one. */
const ALIKE_PART = 0.01;

/** A way in which two bills are alike. */
interface Alike {
  /** Keys that alike bills share; none for a bill that can't be compared in this way. */
  readonly keysOf: (bill: BillFacts, book: BillBook) => readonly string[];
  /** The only bills that others are compared with; all if missing. */
  readonly among?: (other: BillFacts, refused: RefusedBills) => boolean;
  /** Compares what a shared key leaves open. */
  readonly isTwin: (bill: BillFacts, other: BillFacts, refused: RefusedBills) => boolean;
  /** Says how the other is alike; `which` names it. */
  readonly text: (pair: Pair, which: string) => string;
  /** True if it counts only while the other's refusal does. */
  readonly ofRefused?: true;
}

interface Pair {
  readonly bill: BillFacts;
  readonly other: BillFacts;
  readonly book: BillBook;
}

/** Strongest first. */
const WAYS: readonly Alike[] = [
  {
    keysOf: (bill) => numberKeys(bill.customNumber).map((key) => `${bill.contactId}\n${key}`),
    isTwin: () => true,
    text: ({ bill, other }, which) =>
      `Same vendor and number (${numbersText(bill, other)}) as ${which}.`,
  },
  {
    keysOf: (bill, book) => {
      const vendors = otherVendorKeys(bill, book);
      return numberKeys(bill.customNumber).flatMap((key) =>
        vendors.map((vendor) => `${bill.totalCents}\n${vendor}\n${key}`),
      );
    },
    isTwin: (bill, other) => bill.contactId !== other.contactId,
    text: (pair, which) =>
      `Same number (${numbersText(pair.bill, pair.other)}) and amount as ${which}${ofOtherVendor(pair)}.`,
  },
  {
    keysOf: (bill) =>
      numberForms(bill.customNumber).map(({ digits }) => `${bill.contactId}\n${digits}`),
    isTwin: (bill, other) =>
      areAmountsAlike(bill, other) &&
      numberForms(bill.customNumber).some((own) =>
        numberForms(other.customNumber).some((their) => isNearlySame(own, their)),
      ),
    text: ({ bill, other }, which) =>
      `Same vendor, and nearly the same number (${numbersText(bill, other)}) and amount as ${which}.`,
  },
  {
    keysOf: (bill) =>
      NO_LONGER_CLAIMED.has(bill.status) ? [] : [`${bill.totalCents}\n${bill.contactId}`],
    isTwin: areNear,
    text: ({ bill, other }, which) =>
      haveTwoNumbers(bill, other)
        ? `Same vendor and amount as ${which}, though the numbers differ (${shownNumber(bill)}, ${shownNumber(other)}).`
        : `Same vendor and amount as ${which}.`,
  },
  {
    keysOf: (bill, book) => {
      const vendors = [`contact ${bill.contactId}`, ...otherVendorKeys(bill, book)];
      return amountKeys(bill).flatMap((key) => vendors.map((vendor) => `${key}\n${vendor}`));
    },
    among: ({ payableId }, refused) => refused.all.has(payableId),
    isTwin: (bill, other, refused) =>
      areAmountsAlike(bill, other) &&
      (refused.recent.has(other.payableId) || daysApart(bill, other) <= NEAR_DAYS),
    text: (pair, which) => `Vendor and amount are alike to ${which}${ofOtherVendor(pair)}.`,
    ofRefused: true,
  },
];

/** The bills that each planned bill is like. */
export type TwinsOf = ReadonlyMap<string, readonly Twin[]>;

interface Twin {
  readonly bill: BillFacts;
  readonly way: Alike;
}

/** Finds the bills that resemble each of these, the strongest resemblance first. */
export function* findTwins(
  book: BillBook,
  selected: readonly SelectedBill[],
  refused: RefusedBills,
): Steps<TwinsOf> {
  const found = new Map<string, Twin[]>();
  for (const way of WAYS) {
    // Only keys of planned bills are kept: a business may have a million others.
    const groups = new Map<string, BillFacts[]>();
    for (const { bill } of selected) {
      for (const key of way.keysOf(bill, book)) groups.set(key, []);
      yield;
    }
    for (const bill of groups.size === 0 ? [] : book.bills) {
      yield;
      if (bill.contactId === null || way.among?.(bill, refused) === false) continue;
      for (const key of way.keysOf(bill, book)) groups.get(key)?.push(bill);
    }
    const sorted = new Map<string, Group>();
    for (const { bill } of selected) {
      const twins = found.get(bill.payableId) ?? [];
      for (const key of way.keysOf(bill, book)) {
        const group = sorted.get(key) ?? new Group(groups.get(key) ?? []);
        sorted.set(key, group);
        for (const other of group.nearest(bill)) {
          if (twins.some((twin) => twin.bill.payableId === other.payableId)) continue;
          if (way.isTwin(bill, other, refused)) twins.push({ bill: other, way });
        }
      }
      if (twins.length > 0) found.set(bill.payableId, twins);
      yield;
    }
  }
  return found;
}

/** Returns the bills that are like another. */
export function comparedIds(twins: TwinsOf): string[] {
  const others = [...twins.values()].flat();
  return [...twins.keys(), ...others.map(({ bill }) => bill.payableId)];
}

/**
 * Says which bills a bill is like, and how; null if there is none but those beside which it was
 * approved before.
 */
export function twinsFlag(
  bill: BillFacts,
  { book, twins, before }: { book: BillBook; twins: TwinsOf; before: DecidedBefore },
): Pick<LineFlag, "text" | "twins"> | null {
  const unknown = (twins.get(bill.payableId) ?? []).filter(
    ({ bill: other, way }) =>
      !isApprovedPair(before, bill.payableId, other.payableId) &&
      (way.ofRefused === undefined || refusalOf(other, before) !== undefined),
  );
  if (unknown.length === 0) return null;
  const named = unknown.slice(0, NAMED);
  const more = unknown.length - named.length;
  const texts = named.flatMap(({ bill: other, way }) => {
    const refusal = refusalOf(other, before);
    return [
      way.text({ bill, other, book }, whichText(other, book, before)),
      ...(refusal === undefined
        ? []
        : [`${refusalText(refusal, ` on ${newYorkDate(refusal.atMs)}`)}.`]),
    ];
  });
  return {
    text: [...texts, ...(more > 0 ? [`And ${more} more like it.`] : [])].join(" "),
    twins: named.map((twin) => twin.bill.payableId),
  };
}

function refusalOf({ payableId }: BillFacts, before: DecidedBefore) {
  return before.get(payableId)?.refusals[0];
}

/** Returns the date by which duplicates are compared. */
function billDate(bill: BillFacts): string | null {
  return bill.issueDate ?? bill.dueDate;
}

/** Bills without a date can't be told apart by it; one review too many is the safer error. */
function daysApart(bill: BillFacts, other: BillFacts): number {
  const [a, b] = [billDate(bill), billDate(other)];
  return a === null || b === null ? 0 : Math.abs(daysBetween(a, b));
}

function areNear(bill: BillFacts, other: BillFacts): boolean {
  const days = daysApart(bill, other);
  return days <= NEAR_DAYS_OF_TWO_NUMBERS || (days <= NEAR_DAYS && !haveTwoNumbers(bill, other));
}

function haveTwoNumbers(bill: BillFacts, other: BillFacts): boolean {
  return [bill, other].every(({ customNumber }) => numberKeys(customNumber).length > 0);
}

/** Two amounts that are alike have one of these keys in common. */
function amountKeys({ totalCents }: BillFacts): readonly string[] {
  if (totalCents <= 0) return [];
  const step = Math.floor(Math.log(totalCents) / Math.log(1 + 2 * ALIKE_PART));
  return [`${step}`, `${step + 1}`];
}

function areAmountsAlike(
  { totalCents: one }: BillFacts,
  { totalCents: other }: BillFacts,
): boolean {
  return Math.abs(one - other) <= ALIKE_PART * Math.max(one, other);
}

/** Returns keys that a vendor's other records in the service share, and others' with its account. */
function otherVendorKeys(bill: BillFacts, book: BillBook): readonly string[] {
  const { name, last4 } = vendorOf(bill, book);
  return [...(name === "" ? [] : [`name ${name}`]), ...(last4 === "" ? [] : [`account ${last4}`])];
}

/** Says that the other bill is of another vendor, and how that one is alike; empty if it isn't. */
function ofOtherVendor({ bill, other, book }: Pair): string {
  if (bill.contactId === other.contactId) return "";
  const [own, their] = [vendorOf(bill, book), vendorOf(other, book)];
  const same = [
    ...(own.name !== "" && own.name === their.name ? ["name"] : []),
    ...(own.last4 !== "" && own.last4 === their.last4 ? [`account ending in ${own.last4}`] : []),
  ];
  return ` of another vendor, ${their.shown}, with the same ${same.join(" and ")}`;
}

function vendorOf(bill: BillFacts, book: BillBook) {
  const vendor = bill.contactId === null ? undefined : book.vendors.get(bill.contactId);
  const name = vendor?.name ?? bill.contactName;
  const shown = name ?? bill.contactId ?? "";
  return { name: foldedVendorName(name), last4: vendor?.bankLast4 ?? "", shown };
}

function numbersText(bill: BillFacts, other: BillFacts): string {
  const [own, their] = [shownNumber(bill), shownNumber(other)];
  return own === their ? own : `${own}, there ${their}`;
}

function shownNumber({ customNumber }: BillFacts): string {
  return (customNumber ?? "").slice(0, NUMBER_SHOWN);
}

/** Names a bill, its date and amount, and where it stands. */
function whichText(bill: BillFacts, book: BillBook, before: DecidedBefore): string {
  const date = billDate(bill);
  const isCounted = bill.unreadable?.["totalAmountCents"] === undefined;
  const amount = isCounted ? formatUsd(bill.totalCents) : "its amount can't be read";
  const facts = [amount, standingOf(bill, book, before)];
  return `bill ${bill.publicId ?? bill.payableId}${date === null ? "" : ` of ${date}`} (${facts.join(", ")})`;
}

function standingOf(bill: BillFacts, book: BillBook, before: DecidedBefore): string {
  if (NO_LONGER_CLAIMED.has(bill.status)) return bill.status;
  const payments = book.paymentsOf(bill.payableId).map(({ status }) => status);
  const isPaid = bill.totalCents > 0 && bill.amountPaidCents >= bill.totalCents;
  if (isPaid || payments.includes("completed")) return "paid";
  if (payments.some(isOnItsWay)) return "payment on its way";
  return refusalOf(bill, before)?.how ?? "open";
}

/** Bills that share a key, by date; those without a date count as near to every other. */
class Group {
  readonly #undated: readonly BillFacts[];
  readonly #dated: readonly { readonly bill: BillFacts; readonly ms: number }[];

  constructor(bills: readonly BillFacts[]) {
    const dated = bills.flatMap((bill) => {
      const date = billDate(bill);
      return date === null ? [] : [{ bill, ms: utcMsOfDate(date) }];
    });
    this.#undated = bills.filter((bill) => billDate(bill) === null);
    this.#dated = dated.sort((a, b) => a.ms - b.ms);
  }

  /** Returns the bills nearest to one, without it. */
  nearest(of: BillFacts): BillFacts[] {
    const date = billDate(of);
    const place = date === null ? 0 : this.#placeOf(utcMsOfDate(date));
    const from = Math.max(0, place - COMPARED);
    const around = this.#dated
      .slice(from, place + COMPARED + 1)
      .map(({ bill }, index) => ({ bill, far: Math.abs(from + index - place) }))
      .sort((a, b) => a.far - b.far)
      .map(({ bill }) => bill);
    return [...this.#undated.slice(0, COMPARED), ...around].filter(
      (bill) => bill.payableId !== of.payableId,
    );
  }

  /** Returns how many bills are dated before an instant. */
  #placeOf(ms: number): number {
    let [from, to] = [0, this.#dated.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#dated[middle]?.ms ?? ms) < ms) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
