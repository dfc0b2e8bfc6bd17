import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hookStore, makeEmptyStore } from "./hooks.ts";
import { Violation } from "./rules/violation.ts";
import { Simulation, type SeedOptions } from "./simulation.ts";
import { enter } from "./world/globals.ts";
import type { World } from "./world/world.ts";

export interface SeedResult {
  readonly seed: number;
  readonly violation: string | undefined;
  /** Name of the broken rule. */
  readonly rule: string | undefined;
  /** The bill that it is about; empty if none. */
  readonly about: string;
  readonly fingerprint: string;
  readonly told: World["told"];
  readonly steps: number;
  readonly endedMs: number;
  readonly faults: number;
  readonly end: string;
}

let running: Simulation | undefined;
let folder: string | undefined;
let isHooked = false;

async function workFolder(): Promise<string> {
  if (folder !== undefined) return folder;
  folder = mkdtempSync(join(tmpdir(), "payrun-simulation-"));
  const made = folder;
  process.on("exit", () => rmSync(made, { recursive: true, force: true }));
  await makeEmptyStore(join(made, "empty.db"));
  return folder;
}

/** Runs one seed from its first launch to the end of everything. */
export async function runSeed(seed: number, options: SeedOptions = {}): Promise<SeedResult> {
  if (!isHooked) {
    hookStore(
      () => running?.world,
      (commit) => running?.committed(commit),
    );
  }
  isHooked = true;
  const at = await workFolder();
  const storePath = join(at, "seed.db");
  for (const more of ["", "-wal", "-shm", "-file"]) rmSync(storePath + more, { force: true });
  copyFileSync(join(at, "empty.db"), storePath);
  const simulation = new Simulation(seed, storePath, options);
  const { world } = simulation;
  running = simulation;
  enter(world, simulation.idleMs);
  let violation: string | undefined;
  let rule: string | undefined;
  let about = "";
  let end = "";
  try {
    end = await simulation.run();
  } catch (error) {
    violation = error instanceof Error ? (error.stack ?? error.message) : String(error);
    rule = error instanceof Violation ? error.rule : "crash";
    about = error instanceof Violation ? error.about : "";
  } finally {
    world.told.push(...simulation.factsOf(about));
    simulation.close();
    enter(undefined);
    running = undefined;
  }
  const { fingerprint, told, steps, nowMs: endedMs } = world;
  const faults = simulation.faultsMade;
  return { seed, violation, rule, about, fingerprint, told, steps, endedMs, faults, end };
}
