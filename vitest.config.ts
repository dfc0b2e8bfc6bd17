import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { chromiumPath } from "./test/browser/support/chromium.ts";
import { makeFoldersInMemory } from "./test/support/folders-in-memory.ts";
import { hasPostgres } from "./test/support/postgres-programs.ts";
import { PATIENCE_MS } from "./test/support/waits.ts";

makeFoldersInMemory();

/** What tests trust is never the developer's. */
const userConfiguration = mkdtempSync(join(tmpdir(), "payrun-config-"));
process.once("exit", () => rmSync(userConfiguration, { recursive: true, force: true }));

/** These talk to a real Temporal server, which is started once for all of them. */
const temporalTests = [
  ...["attacks/stack", "cli", "e2e", "replay", "worker", "workflows"].map(
    (folder) => `test/${folder}/**/*.test.ts`,
  ),
  "test/actions/{launch,schedules}/*.test.ts",
  "test/events/{dispatcher,event-starts,pending-signals}.test.ts",
];

const fixedDay = new URL("./test/support/fixed-day.mjs", import.meta.url);
const standIn = new URL("./test/simulation/temporal/workflow-stand-in.ts", import.meta.url);

/** What holds for PostgreSQL alone; every other test of the store runs on both kinds. */
const postgresOnly = ["test/store/postgres/**/*.test.ts"];
const sqliteOnly = ["test/store/sqlite/**/*.test.ts"];

function onPostgres(): TestProjectInlineConfiguration[] {
  if (!hasPostgres()) {
    process.stderr.write(
      "No PostgreSQL: set PAYRUN_TEST_POSTGRES_URL or install one. Stores are tested on SQLite only.\n",
    );
    return [];
  }
  return [
    {
      extends: true,
      test: {
        name: "postgres",
        isolate: false,
        include: ["test/store/**/*.test.ts"],
        exclude: sqliteOnly,
        globalSetup: ["test/support/postgres-setup.ts"],
      },
    },
  ];
}

const browserTests = ["test/browser/**/*.test.ts"];

function inBrowser(): TestProjectInlineConfiguration[] {
  if (chromiumPath() === undefined) {
    process.stderr.write(
      "No Chromium: install one or set PAYRUN_TEST_CHROMIUM. The console is tested without a browser only.\n",
    );
    return [];
  }
  // The week before the bills of its run are paid, so that pages show what people see then.
  const day = `--import=${fixedDay.href}?now=2026-11-18T15:00:00Z`;
  const execArgv = ["--disable-warning=ExperimentalWarning", day];
  return [{ extends: true, test: { name: "browser", include: browserTests, execArgv } }];
}

export default defineConfig({
  test: {
    pool: "forks",
    env: { XDG_CONFIG_HOME: userConfiguration },
    // More than twice the cores of a small machine: whole stacks wait more than they compute.
    maxWorkers: 5,
    // Slow is not wrong: a machine may be busy with much else.
    testTimeout: 240_000,
    expect: { poll: { timeout: PATIENCE_MS } },
    hookTimeout: 240_000,
    teardownTimeout: 30_000,
    execArgv: ["--disable-warning=ExperimentalWarning"],
    projects: [
      {
        extends: true,
        // Workflows run here over the simulation's stand-in for Temporal, in virtual time.
        resolve: { alias: { "@temporalio/workflow": fileURLToPath(standIn) } },
        test: {
          name: "unit",
          // One process runs file after file, and loads what they share once: a quarter less
          // processor time. A test that changes its process puts back what it found.
          isolate: false,
          execArgv: ["--disable-warning=ExperimentalWarning", `--import=${fixedDay.href}`],
          setupFiles: ["test/support/file-begins.ts"],
          include: ["test/**/*.test.ts"],
          globalSetup: ["test/support/sandbox-folder.ts"],
          exclude: [...temporalTests, ...postgresOnly, ...browserTests],
        },
      },
      ...onPostgres(),
      ...inBrowser(),
      {
        extends: true,
        test: {
          name: "temporal",
          // As above: every fifth second of processor time less.
          isolate: false,
          include: temporalTests,
          globalSetup: ["test/support/sandbox-folder.ts", "test/support/global-setup.ts"],
        },
      },
    ],
  },
});
