import { defineConfig } from "vitest/config";

/** Tests in these folders talk to a real Temporal server, which is started once for all of them. */
const withTemporal = [
  "activities",
  "chaos",
  "cli",
  "e2e",
  "gateway",
  "replay",
  "worker",
  "workflows",
];
const temporalTests = withTemporal.map((folder) => `test/${folder}/**/*.test.ts`);

export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
    execArgv: ["--disable-warning=ExperimentalWarning"],
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: temporalTests },
      },
      {
        extends: true,
        test: {
          name: "temporal",
          // Whole stacks of processes on a machine that may be busy: slow is not wrong.
          testTimeout: 240_000,
          include: temporalTests,
          globalSetup: ["test/support/global-setup.ts"],
        },
      },
    ],
  },
});
