import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { isLong } from "../support/long.ts";

const main = fileURLToPath(new URL("./main.ts", import.meta.url));

interface Figures {
  readonly eventsOnARestDayAtMost: number;
  readonly bankingDaysWithoutBills: number;
  readonly eventsOnOneOfThemAtMost: number;
  readonly settled: number;
  readonly settledKnownAfterHours: number | null;
  readonly returned: number;
  readonly returnedKnownAfterHours: number | null;
}

/**
 * Returns the figures of three weekly runs, across a change of the clocks and two bank holidays.
 */
async function figures(...more: readonly string[]): Promise<Figures> {
  const short = ["--quarter", "--first-run", "2027-11-04", "--weeks", "3", "--bills", "8"];
  const args = ["--disable-warning=ExperimentalWarning", main, ...short, ...more];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Figures;
}

const HOWS = [
  ["without webhooks", ["--polls"], 24],
  ["with webhooks", [], 1],
] as const;

test.each(isLong ? HOWS : HOWS.slice(0, 1))(
  "weekly runs on real clocks sleep on idle days, and notice settlements and returns in time %s",
  async (_how, more, hours) => {
    const found = await figures(...more);
    expect(found).toMatchObject({ settled: 24, returned: 3 });
    expect(found.eventsOnARestDayAtMost).toBeLessThanOrEqual(30);
    expect(found.bankingDaysWithoutBills).toBeGreaterThan(0);
    expect(found.eventsOnOneOfThemAtMost).toBeLessThanOrEqual(30);
    // Null would mean never.
    expect(found.settledKnownAfterHours).not.toBeNull();
    expect(found.settledKnownAfterHours).toBeLessThanOrEqual(hours);
    expect(found.returnedKnownAfterHours).not.toBeNull();
    expect(found.returnedKnownAfterHours).toBeLessThanOrEqual(hours);
  },
  240_000,
);
