import { parseArgs } from "node:util";
import { signedIn, type Visits } from "../../test/console/support/visits.ts";
import { seedWeekly } from "../../test/console/support/weekly-run.ts";
import { startTestGateway, type TestGateway } from "../../test/gateway/support/gateway.ts";
import { approveLines } from "../../test/gateway/support/rows.ts";
import { wholeNumber } from "../../test/support/arguments.ts";
import { medians, TIMES } from "../medians.ts";

const SMALL = 100;

interface Side {
  readonly gateway: TestGateway;
  readonly visits: Visits;
  readonly paths: Readonly<Record<string, string>>;
}

/**
 * Times the console's pages about a run of many bills beside the same pages about a run of a
 * hundred: a page that reads what it doesn't show grows with the run.
 */
export async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { bills: { type: "string", default: "10000" } },
  });
  const bills = wholeNumber("bills", values.bills, SMALL);
  const sides = [await sideOf(SMALL), await sideOf(bills)] as const;
  try {
    process.stdout.write(`pages of ${bills} bills and of ${SMALL}; the median of ${TIMES}\n`);
    for (const name of Object.keys(sides[0].paths)) {
      const [few, many] = await medians(sides, (side) => visit(side, name));
      const ratio = (many / few).toFixed(2).padStart(8);
      process.stdout.write(`${ratio}x  ${name} (${many.toFixed(0)} ms)\n`);
    }
  } finally {
    for (const { gateway } of sides) await gateway.stop();
  }
}

async function sideOf(bills: number): Promise<Side> {
  const gateway = await startTestGateway();
  const run = await seedWeekly(gateway.store, bills);
  // A third of the lines also wait for another person.
  const approved = Array.from(
    { length: Math.floor(bills / 3) },
    (_, no) => `pbl_${String(no + 150).padStart(4, "0")}`,
  );
  await approveLines(
    gateway.store,
    run,
    approved.filter((_, no) => no < bills - 50),
  );
  const visits = await signedIn(gateway, "olga", ["controller", "owner"]);
  const page = `/runs/${encodeURIComponent(run.runId)}`;
  const paths = {
    "a run, its first bills": page,
    "a run, its last bills": `${page}?page=${Math.ceil(bills / 50)}`,
    "checking before approving": `${page}/approve?plan=${run.planHash}`,
    Today: "/",
    Emergency: "/emergency",
    "Needs action": "/needs-action",
    "a report": `/reports/${encodeURIComponent(run.runId)}`,
    "a bill": "/bills/pbl_0120?business=acme",
    "a vendor": "/vendors/con_3?business=acme",
    Holds: "/holds",
    "a search": "/search?q=harb",
    "stopping a vendor": "/emergency/stop?contactId=con_3&business=acme",
    "holding a vendor": "/vendors/con_3/hold?business=acme",
  };
  return { gateway, visits, paths };
}

/** Reads one of the side's pages. */
async function visit({ visits, paths }: Side, name: string): Promise<void> {
  const { status, text } = await visits.get(paths[name] ?? "");
  if (status !== 200) throw new Error(`${name}: ${status} ${text}`);
}
