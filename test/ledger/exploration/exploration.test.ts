import { describe, expect, it } from "vitest";
import { MIN, T0, TERMS } from "../facts.ts";
import { Engine } from "./engine.ts";

const SEEDS = Number(process.env["PAYRUN_LEDGER_SEEDS"] ?? 30);
const FIRST = Number(process.env["PAYRUN_LEDGER_FIRST_SEED"] ?? 1);

/** The hours with faults, and the time without faults in which everything comes to an end. */
const FAULTY_MS = 150 * MIN;
const HEALED_MS = 150 * MIN;

function explore(seed: number): { readonly engine: Engine; readonly end: string } {
  const engine = new Engine(seed);
  engine.time.runUntil(T0 + FAULTY_MS);
  engine.heal();
  engine.time.runUntil(T0 + FAULTY_MS + HEALED_MS);
  const kinds = new Set(engine.last.map((step) => step.kind));
  return { engine, end: [...kinds].toSorted().join() };
}

describe("two processes and a service that does anything it may", () => {
  it(`two processes pay a bill at most once and come to an end, whatever the service does (${SEEDS} seeds)`, () => {
    const ends = new Map<string, number>();
    for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1) {
      const { engine, end } = explore(seed);
      const trace = () => `seed ${seed}\n${engine.trace.join("\n")}`;
      expect(engine.violations, trace()).toEqual([]);
      expect(["applied", "person"], trace()).toContain(end);
      if (end === "applied") {
        expect(engine.service.standingCents(), trace()).toBe(TERMS.amountCents);
      }
      ends.set(end, (ends.get(end) ?? 0) + 1);
    }
    // A person is needed only for payments that don't add up.
    expect(ends.get("applied") ?? 0).toBeGreaterThan(SEEDS * 0.7);
  });
});
