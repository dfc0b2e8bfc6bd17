import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ClockError, BankAndWireClock } from "../../../src/sandbox/clock/clock.ts";

const dayMs = 86_400_000;

function expectRealTime(read: () => number): void {
  const beforeMs = Date.now();
  const nowMs = read();
  expect(nowMs).toBeGreaterThanOrEqual(beforeMs);
  expect(nowMs).toBeLessThanOrEqual(Date.now());
}

describe("the sandbox's clocks", () => {
  let directory: string;
  const opened: { clock: BankAndWireClock; db: DatabaseSync }[] = [];

  function open(): BankAndWireClock {
    const db = new DatabaseSync(join(directory, "clock.db"));
    const clock = new BankAndWireClock(db);
    opened.push({ clock, db });
    return clock;
  }

  function closeAll(): void {
    for (const { clock, db } of opened.splice(0)) {
      clock.close();
      db.close();
    }
  }

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "clock-"));
  });

  afterEach(() => {
    closeAll();
    rmSync(directory, { recursive: true, force: true });
  });

  it("the clocks start at real time with scale 1", () => {
    const clock = open();
    expectRealTime(() => clock.bankNow());
    expectRealTime(() => clock.wireNow());
    expect(clock.scale).toBe(1);
  });

  it("one change can set the bank clock and advance it by an ISO 8601 duration", () => {
    const clock = open();
    const reading = clock.change({ set: "2031-03-05T12:00:00Z", advance: "P1MT9H30M" });
    expect(reading.bank.startsWith("2031-04-05T21:30:00")).toBe(true);
  });

  it("the wire clock can be advanced without the bank clock", () => {
    const clock = open();
    const bankBefore = clock.bankNow();
    const wireBefore = clock.wireNow();
    clock.change({ wire: { advance: "PT6M" } });
    expect(clock.wireNow() - wireBefore).toBeGreaterThanOrEqual(360_000);
    expect(clock.bankNow() - bankBefore).toBeLessThan(60_000);
  });

  it("the bank clock runs at its scale, the wire clock in real time", async () => {
    const clock = open();
    clock.change({ scale: 86_400 });
    const before = clock.bankNow();
    while (clock.bankNow() - before < 3 * dayMs) await sleep(20);
    expect(clock.realMsUntilBank(clock.bankNow() + dayMs)).toBeLessThanOrEqual(1_000);
    expectRealTime(() => clock.wireNow());
  });

  it.each([
    [{ set: "2020-01-01T00:00:00Z" }, /cannot go back/],
    [{ set: "2099-01-01" }, /instant with a zone/],
    [{ set: "soon" }, /instant with a zone/],
    [{ advance: "-P1D" }, /must not be negative/],
    [{ advance: "3 days" }, /ISO 8601 duration/],
    [{ advance: "P9000Y" }, /ISO 8601 duration/],
    [{ scale: 0 }, /scale/],
    [{ scale: -1 }, /scale/],
    [{ wire: { advance: "-PT1S" } }, /must not be negative/],
  ])("the clocks refuse %j and stay as they are", (change, message) => {
    const clock = open();
    clock.change({ scale: 2 });
    expect(() => clock.change({ scale: 7, ...change })).toThrow(message);
    expect(() => clock.change({ scale: 7, ...change })).toThrow(ClockError);
    expect(clock.scale).toBe(2);
    expect(Math.abs(clock.bankNow() - Date.now())).toBeLessThan(60_000);
  });

  it("a listener is called on every change and reset until it is removed", () => {
    const clock = open();
    let calls = 0;
    const stop = clock.onChange(() => (calls += 1));
    clock.change({ advance: "P1D" });
    clock.reset();
    stop();
    clock.change({ advance: "P1D" });
    expect(calls).toBe(2);
  });

  it("the clocks go on after a restart and never fall behind an earlier reading", () => {
    const first = open();
    first.change({ set: "2040-01-01T00:00:00Z", scale: 3_600, wire: { advance: "PT10M" } });
    const bank = first.bankNow();
    const wire = first.wireNow();
    const second = open();
    expect(second.bankNow()).toBeGreaterThanOrEqual(bank);
    expect(second.wireNow()).toBeGreaterThanOrEqual(wire);
    expect(second.scale).toBe(3_600);
  });

  it("a scaled clock doesn't race ahead while the service is down", () => {
    const clock = open();
    clock.change({ scale: 86_400 });
    closeAll();
    const db = new DatabaseSync(join(directory, "clock.db"));
    db.exec(`UPDATE clock SET real_ms = real_ms - ${dayMs}`);
    db.close();
    expect(open().bankNow() - Date.now()).toBeLessThan(30 * dayMs);
  });

  it("a reset brings the clocks back to real time", () => {
    const clock = open();
    clock.change({ advance: "P30D", scale: 60, wire: { advance: "P1D" } });
    clock.reset();
    expectRealTime(() => clock.bankNow());
    expectRealTime(() => clock.wireNow());
    expect(clock.scale).toBe(1);
  });
});
