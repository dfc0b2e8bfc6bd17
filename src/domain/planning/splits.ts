import type { ApprovalRule, PayLimits } from "../../contracts/playbook.ts";
import { addDays } from "../clock/dates.ts";
import { inSentence } from "../../contracts/in-sentence.ts";
import { formatUsd } from "../money.ts";
import type { Steps } from "../steps.ts";
import { foldedVendorName } from "../vendor-names.ts";
import type { BillBook, BillFacts } from "./book.ts";
import { wholeCents } from "./limits.ts";
import type { SummedLine } from "./vendor-sums.ts";

/** Bills whose days are no further apart may be one payment that was split. */
export const SPLIT_DAYS = 10;

/** A flag names so many of the other bills; more are counted. */
const NAMED = 5;

/** A line with what its whole bill comes to. */
interface Member extends SummedLine {
  readonly billCents: number;
}

export interface SplitInput {
  readonly book: BillBook;
  /** The lines that are planned. */
  readonly lines: readonly SummedLine[];
  /** Lines of other runs, paid or still to be paid. */
  readonly near: readonly SummedLine[];
  readonly approve: readonly ApprovalRule[];
  readonly limits: PayLimits;
}

/**
 * Finds bills that pass an amount of the playbook together with others of their vendor, none of
 * which passes it alone. Vendors of the same name or account count as one.
 *
 * @returns what to say about them, by payable
 */
export function* findSplits(input: SplitInput): Steps<ReadonlyMap<string, string>> {
  const { book, lines, near, approve, limits } = input;
  const amounts = [...approve.map(({ overCents }) => overCents), limits.billCents]
    .filter((cents) => cents !== null)
    .toSorted((one, other) => one - other);
  const bills = new Map(book.bills.map((bill) => [bill.payableId, bill]));
  const memberOf = (line: SummedLine): Member => {
    const { totalCents = 0 } = bills.get(line.payableId) ?? {};
    return { ...line, billCents: wholeCents({ ...line, totalCents }) };
  };
  const planned = lines.map(memberOf);
  const days = new Days([...planned, ...near.map(memberOf)], book);
  const found = new Map<string, string>();
  for (const line of planned) {
    for (const mostCents of new Set(amounts)) {
      const split = line.billCents > mostCents ? undefined : days.splitOf(line, mostCents);
      if (split === undefined) continue;
      found.set(line.payableId, splitText(split, mostCents, bills));
      break;
    }
    yield;
  }
  return found;
}

interface Split {
  readonly cents: number;
  /** The first of the other lines, and how many more there are. */
  readonly named: readonly Member[];
  readonly more: number;
}

function splitText(
  { cents, named, more }: Split,
  mostCents: number,
  bills: ReadonlyMap<string, BillFacts>,
): string {
  const texts = named.map(({ payableId, amountCents, executionDate }) => {
    const name = bills.get(payableId)?.publicId ?? payableId;
    return `${name} (${formatUsd(amountCents)} on ${executionDate})`;
  });
  const all = more === 0 ? texts : [...texts, `${more} more`];
  return `With ${inSentence(all)} it comes to ${formatUsd(cents)} within ${SPLIT_DAYS} days, above ${formatUsd(mostCents)}; none of them is alone.`;
}

/** Lines by vendor and day: a busy vendor's thousand bills take no longer than its days. */
class Days {
  readonly #ofContact: ReadonlyMap<string, readonly Member[]>;
  readonly #ofBill: ReadonlyMap<string, readonly Member[]>;
  readonly #contactsOf: (contactId: string) => readonly string[];
  readonly #windows = new Map<string, readonly (readonly string[])[]>();
  readonly #byDay = new Map<string, ReadonlyMap<string, Day>>();

  constructor(members: readonly Member[], book: BillBook) {
    this.#ofContact = Map.groupBy(members, ({ contactId }) => contactId);
    this.#ofBill = Map.groupBy(members, ({ payableId }) => payableId);
    const keysOf = (contactId: string): string[] => {
      const { name = null, bankLast4 = null } = book.vendors.get(contactId) ?? {};
      const folded = foldedVendorName(name);
      return [
        `contact ${contactId}`,
        ...(folded === "" ? [] : [`name ${folded}`]),
        ...(bankLast4 === null ? [] : [`account ${bankLast4}`]),
      ];
    };
    const pairs = [...this.#ofContact.keys()].flatMap((contactId) =>
      keysOf(contactId).map((key) => ({ key, contactId })),
    );
    const alike = Map.groupBy(pairs, ({ key }) => key);
    this.#contactsOf = (contactId) => {
      const same = keysOf(contactId).flatMap((key) => alike.get(key) ?? []);
      return [...new Set(same.map((each) => each.contactId))];
    };
  }

  /** Returns the largest sum of the days around a line's if it is above the amount. */
  splitOf(line: Member, mostCents: number): Split | undefined {
    const days = this.#daysOf(line.contactId, mostCents);
    const own = this.#ofBill.get(line.payableId) ?? [];
    let largest = { cents: mostCents, days: NO_DAYS, count: 0 };
    for (const within of this.#windowsOf(line.executionDate)) {
      const of = within.flatMap((day) => days.get(day) ?? []);
      // The bill itself counts whole, instead of its parts.
      const parts = own.filter(({ executionDate }) => within.includes(executionDate));
      const cents = line.billCents - sumOf(parts) + of.reduce((sum, day) => sum + day.cents, 0);
      const count = of.reduce((sum, { members }) => sum + members.length, 0) - parts.length;
      if (cents > largest.cents && count > 0) largest = { cents, days: of, count };
    }
    if (largest.count === 0) return undefined;
    const named: Member[] = [];
    for (const other of largest.days.flatMap(({ members }) => members.slice(0, NAMED + 1))) {
      if (other.payableId !== line.payableId && named.length < NAMED) named.push(other);
    }
    return { cents: largest.cents, named, more: largest.count - named.length };
  }

  /** Returns the runs of days that a day is in. */
  #windowsOf(date: string): readonly (readonly string[])[] {
    let windows = this.#windows.get(date);
    if (windows === undefined) {
      const span = Array.from({ length: SPLIT_DAYS + 1 }, (_, day) => day);
      windows = span.map((back) => span.map((day) => addDays(date, day - back)));
      this.#windows.set(date, windows);
    }
    return windows;
  }

  /** Adds up, by day, the lines of a vendor and those like it whose bills are not above the amount. */
  #daysOf(contactId: string, mostCents: number): ReadonlyMap<string, Day> {
    const key = `${mostCents} ${contactId}`;
    let days = this.#byDay.get(key);
    if (days === undefined) {
      const members = this.#contactsOf(contactId)
        .flatMap((each) => this.#ofContact.get(each) ?? [])
        .filter(({ billCents }) => billCents <= mostCents);
      const byDay = Map.groupBy(members, ({ executionDate }) => executionDate);
      days = new Map([...byDay].map(([day, of]) => [day, { cents: sumOf(of), members: of }]));
      this.#byDay.set(key, days);
    }
    return days;
  }
}

interface Day {
  readonly cents: number;
  readonly members: readonly Member[];
}

const NO_DAYS: readonly Day[] = [];

function sumOf(lines: readonly Pick<Member, "amountCents">[]): number {
  return lines.reduce((sum, { amountCents }) => sum + amountCents, 0);
}
