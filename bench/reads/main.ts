import { rm } from "node:fs/promises";
import { parseArgs } from "node:util";
import { knownAccounts, weekUse } from "../../src/store/plans/plan-history.ts";
import { LineCounts } from "../../src/reports/line-counts.ts";
import type { Db } from "../../src/store/sql/db.ts";
import { mayBeCountedTwice, reservedCents } from "../../src/store/lines/reserved.ts";
import { dayOfFailure } from "../../src/store/lines/retry-cases.ts";
import { wholeNumber } from "../../test/support/arguments.ts";
import { medians, TIMES } from "../medians.ts";
import { BUSINESS_ID, SOURCE_ID, storeWith, VENDORS } from "./stores.ts";

const TODAY = "2026-11-19";
const SOURCE = { businessId: BUSINESS_ID, sourceId: SOURCE_ID, today: TODAY };
const CONTACTS = Array.from({ length: VENDORS }, (_, no) => `con_${no}`);

/** What runs, retries, the janitor and the metrics read of past payments. */
const READS: Readonly<Record<string, (db: Db) => Promise<unknown>>> = {
  "money promised by others": (db) => reservedCents(db, { ...SOURCE, readAtMs: 2 }),
  "money that may count twice": (db) => mayBeCountedTwice(db, SOURCE),
  "accounts that payments proved": (db) => knownAccounts(db, BUSINESS_ID, CONTACTS, () => true),
  "a week's use of limits": (db) => weekUse(db, { ...SOURCE, exceptRunId: "another" }),
  "the day of a failure": (db) => dayOfFailure(db, FAILED, "R01"),
  "lines by state, each scrape": (db) => lineCounts(db).read(),
};

const scraped = new Map<Db, LineCounts>();

/** Returns the counts of a store: one object per store, as in a gateway. */
function lineCounts(db: Db): LineCounts {
  const counts = scraped.get(db) ?? new LineCounts({ db });
  scraped.set(db, counts);
  return counts;
}

const FAILED = {
  businessId: BUSINESS_ID,
  sourceId: SOURCE_ID,
  payableId: "pbl_0_0",
  contactId: "con_0",
  executionDate: "2024-01-04",
};

/**
 * Times the same reads of a store after one weekly run and of one after many: a read that grows
 * with a business's past shows as a ratio far above 1.
 */
export async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: "string", default: "52" },
      bills: { type: "string", default: "5000" },
    },
  });
  const runs = wholeNumber("runs", values.runs, 1);
  const bills = wholeNumber("bills", values.bills, 1);
  const places = [await storeWith(1, bills), await storeWith(runs, bills)] as const;
  try {
    process.stdout.write(`${bills} bills in 1 run, and in ${runs} runs; the median of ${TIMES}\n`);
    for (const [name, read] of Object.entries(READS)) {
      const [one, many] = await medians(places, ({ store }) => read(store.db));
      const ratio = (many / one).toFixed(2).padStart(8);
      process.stdout.write(`${ratio}x  ${name} (${many.toFixed(1)} ms)\n`);
    }
  } finally {
    for (const { folder, store } of places) {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    }
  }
}
