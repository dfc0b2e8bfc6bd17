import { MockActivityEnvironment } from "@temporalio/testing";
import { DefaultLogger } from "@temporalio/worker";
import { expect, vi } from "vitest";
import { Places } from "../../../activities/shared/places.ts";
import { payRunId } from "../../../src/contracts/workflow-kinds.ts";
import { POOLS, WAITING_FOR_A_PLACE } from "../../../src/domain/places.ts";
import { getRun } from "../../../src/store/runs/runs.ts";
import { test } from "../money-world.ts";

const SILENT = new DefaultLogger("ERROR", () => {});

/** Steps that end only when they are told to. */
class Steps {
  readonly places: Places;
  readonly begun: string[] = [];
  readonly #ends: (() => void)[] = [];

  constructor(places: Places) {
    this.places = places;
  }

  /** Starts a step of a run, as Temporal does. */
  start(workflowId: string): Promise<unknown> {
    const workflowExecution = { workflowId, runId: "one" };
    const environment = new MockActivityEnvironment({ workflowExecution }, { logger: SILENT });
    const step = environment.run(() =>
      this.places.within("planning", async () => {
        this.begun.push(workflowId);
        await new Promise<void>((resolve) => this.#ends.push(resolve));
      }),
    );
    step.catch(() => undefined);
    return step;
  }

  /** Ends the step that began first. */
  async end(): Promise<void> {
    this.#ends.shift()?.();
    await this.haveBegun();
  }

  /** Waits until every step has begun that may. */
  async haveBegun(): Promise<string[]> {
    await new Promise((resolve) => setImmediate(resolve));
    return this.begun;
  }
}

const run = (business: string, name: string) => payRunId(business, name, "2026-11-30", 1);

test("a business whose steps hang holds its share of the places, and another's step begins at once", async ({
  world,
}) => {
  const steps = new Steps(new Places(world.context()));
  for (let index = 1; index <= 12; index += 1) void steps.start(run("hangs", `p${index}`));
  expect(await steps.haveBegun()).toHaveLength(POOLS.planning.share);
  void steps.start(run("sound", "rent"));
  expect((await steps.haveBegun()).at(-1)).toBe(run("sound", "rent"));
});

test("steps of a business that wait for a place get it in turn", async ({ world }) => {
  const steps = new Steps(new Places(world.context()));
  const ids = ["a", "b", "c", "d"].map((name) => run("acme", name));
  for (const id of ids) void steps.start(id);
  await steps.haveBegun();
  for (let ended = 1; ended <= 4; ended += 1) await steps.end();
  expect(steps.begun).toEqual(ids);
});

test("a run whose step waits for a place says so in its status", async ({ world }) => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const { runId } = await world.plannedRun([{}]);
  const steps = new Steps(new Places(world.context()));
  for (let index = 1; index <= POOLS.planning.share; index += 1) {
    void steps.start(run("acme", `p${index}`));
  }
  void steps.start(runId);
  await steps.haveBegun();
  vi.advanceTimersByTime(5_000);
  await expect
    .poll(async () => (await getRun(world.store.db, runId))?.waitingFor)
    .toBe(
      "its turn: the worker is at 1 other step of acme already, as many as one business may have at once",
    );
  vi.useRealTimers();
});

test("beyond a number of steps that wait, a business's next steps are tried again later", async ({
  world,
}) => {
  const steps = new Steps(new Places(world.context()));
  const most = POOLS.planning.share * (1 + WAITING_FOR_A_PLACE);
  for (let index = 1; index <= most; index += 1) void steps.start(run("acme", `p${index}`));
  await expect(steps.start(run("acme", "last"))).rejects.toMatchObject({ type: "NoPlace" });
  void steps.start(run("sound", "rent"));
  expect((await steps.haveBegun()).at(-1)).toBe(run("sound", "rent"));
});

test("a worker that stops keeps no step waiting", async ({ world }) => {
  const stopping = new AbortController();
  const steps = new Steps(new Places({ store: world.store, draining: stopping.signal }));
  for (let index = 1; index <= POOLS.planning.share; index += 1) {
    void steps.start(run("acme", `p${index}`));
  }
  const waiting = steps.start(run("acme", "waits"));
  stopping.abort();
  await expect(waiting).rejects.toMatchObject({ type: "NoPlace" });
});
