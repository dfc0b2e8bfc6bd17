import type { Reporter, TestCase, TestModule } from "vitest/node";

/** Says at the end which tests passed only at their second try, and why, so that none hides. */
export class SecondTries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const flaky = modules.flatMap((module) =>
      [...module.children.allTests()]
        .filter((test) => test.diagnostic()?.flaky === true)
        .map((test) => `  ${module.relativeModuleId}: ${test.fullName}\n${firstFailure(test)}`),
    );
    if (flaky.length === 0) return;
    process.stdout.write(`\nPassed only at their second try:\n${flaky.join("")}`);
  }
}

function firstFailure(test: TestCase): string {
  const [error] = test.result().errors ?? [];
  if (error === undefined) return "";
  const cause = error.cause === undefined ? "" : ` (${String(error.cause.message)})`;
  return `    ${error.message.slice(0, 2_000).replaceAll("\n", "\n    ")}${cause}\n`;
}
