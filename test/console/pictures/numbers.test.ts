import { expect } from "vitest";
import type { LineState } from "../../../src/contracts/line-states.ts";
import type { FundingChoice } from "../../../src/contracts/pay-run.ts";
import { formatUsd } from "../../../src/domain/money.ts";
import type { TestGateway } from "../../gateway/support/gateway.ts";
import { planLine, seedRun, type SeededRun, setLine } from "../../gateway/support/rows.ts";
import { newYorkDate } from "../../../src/domain/clock/new-york.ts";
import { addDays } from "../../../src/domain/clock/dates.ts";
import { sharedGatewayTest } from "../../gateway/support/gateway-test.ts";
import { signedIn, type Visited } from "../support/visits.ts";

const SOURCE: FundingChoice = {
  ...{ sourceId: "balance", rail: "SERVICE", kind: "balance", name: "Balance", last4: null },
  ...{ pay: { paymentRail: "SERVICE", fundingSource: "balance" }, needsAchAuthorization: false },
};
const TODAY = newYorkDate(Date.now());

/** The bills of the two days, by state. */
const BILLS: readonly (readonly [LineState, cents: number, day: string])[] = [
  ["settled", 412_345, TODAY],
  ["scheduled", 98_701, TODAY],
  ["processing", 50_003, TODAY],
  ["parked", 7_777, TODAY],
  ["awaiting-approval", 300_001, addDays(TODAY, 1)],
  ["cancelled", 12_300, addDays(TODAY, 1)],
];

const test = sharedGatewayTest().extend(
  "cora",
  { scope: "file", auto: true },
  async ({ gateway }) => {
    await seed(gateway, "2026-10-09", 0, 0);
    return signedIn(gateway, "cora", ["controller"]);
  },
);

/** Makes a run of these bills, whose account has this much and has promised this much. */
async function seed(
  gateway: TestGateway,
  period: string,
  availableCents: number,
  reservedCents: number,
) {
  const lines = BILLS.map(([, amountCents, executionDate], no) =>
    planLine(`p_${period}_${no}`, {
      ...{ amountCents, totalCents: amountCents, executionDate, funding: SOURCE },
    }),
  );
  const summary = { source: SOURCE, availableCents, reservedCents };
  const run = await seedRun(gateway.store, { ...{ period, lines, summary, launchedBy: "lou" } });
  for (const [no, [state]] of BILLS.entries()) {
    await setLine(gateway.store, run.runId, `p_${period}_${no}`, { state });
  }
  return run;
}

interface Bar {
  readonly said: string;
  /** Widths by tone. */
  readonly widths: Readonly<Record<string, number>>;
}

function barsOf({ html }: Visited): Bar[] {
  return [...html.matchAll(/<svg(?:(?!<\/svg)[\s\S])*aria-label="([^"]+)"[\s\S]*?<\/svg>/g)].map(
    ([svg, said = ""]) => ({
      said,
      widths: Object.fromEntries(
        [...svg.matchAll(/class="p-(\w+)"[^>]*\swidth="([\d.]+)"/g)].map(([, tone, width]) => [
          tone,
          Number(width),
        ]),
      ),
    }),
  );
}

function sumOf(day: string, ...states: readonly LineState[]): number {
  return BILLS.filter(([state, , on]) => on === day && states.includes(state)).reduce(
    (sum, [, cents]) => sum + cents,
    0,
  );
}

test("the week's picture shows each day's money by state, to the cent, with bars to scale", async ({
  cora,
}) => {
  const page = await cora.get("/");
  const [first, second] = barsOf(page);
  const parts = {
    good: sumOf(TODAY, "settled"),
    move: sumOf(TODAY, "scheduled", "processing"),
    bad: sumOf(TODAY, "parked"),
  };
  expect(first?.said).toBe(
    `Settled: ${formatUsd(parts.good)}; On its way: ${formatUsd(parts.move)}; Needs a person: ${formatUsd(parts.bad)}`,
  );
  const waits = sumOf(addDays(TODAY, 1), "awaiting-approval");
  // A cancelled bill does not count in its day.
  expect(second?.said).toBe(`Waits: ${formatUsd(waits)}`);
  const total = parts.good + parts.move + parts.bad;
  expect(page.text).toContain(`Today ${formatUsd(total)}`);
  expect(page.text).toContain(` ${formatUsd(waits)}`);
  for (const [tone, cents] of Object.entries(parts)) {
    expect(first?.widths[tone], tone).toBeCloseTo((cents / total) * 100, 0);
  }
  expect(second?.widths["wait"]).toBeCloseTo((waits / total) * 100, 0);
});

test.for<[string, number, number]>([
  ["enough", 5_000_000, 250_000],
  ["too little", 600_000, 250_000],
])(
  "the picture of an account that has %s shows money before, promised, paid and after to scale",
  async ([which, availableCents, promisedCents], { gateway, cora }) => {
    const run: SeededRun = await seed(
      gateway,
      `2026-10-1${which.length}`,
      availableCents,
      promisedCents,
    );
    const page = await cora.get(`/runs/${encodeURIComponent(run.runId)}`);
    // Cancelled bills take no money from the account.
    const bills = BILLS.filter(([state]) => state !== "cancelled");
    const cents = bills.reduce((sum, [, each]) => sum + each, 0);
    const after = availableCents - promisedCents - cents;
    const left = after < 0 ? `Missing: ${formatUsd(-after)}` : `Left: ${formatUsd(after)}`;
    expect(page.text).toContain(`Before: ${formatUsd(availableCents)}`);
    expect(page.text).toContain(
      `Promised to other runs: ${formatUsd(promisedCents)} These bills: ${formatUsd(cents)} ${left}`,
    );
    const bar = barsOf(page).find(({ said }) => said.includes("for these bills"));
    expect(bar?.said).toContain(`${formatUsd(cents)} for these bills`);
    const scale = 720 / Math.max(availableCents, promisedCents + cents);
    expect(bar?.widths["plain"]).toBeCloseTo(promisedCents * scale, 0);
    expect(bar?.widths["move"]).toBeCloseTo(cents * scale, 0);
    expect(bar?.widths[after < 0 ? "bad" : "good"]).toBeCloseTo(Math.abs(after) * scale, 0);
  },
);
