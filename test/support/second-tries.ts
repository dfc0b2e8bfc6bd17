import type { Reporter, TestModule } from "vitest/node";

/** Says at the end which tests passed only at their second try, so that none of them hides. */
export class SecondTries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const flaky = modules.flatMap((module) =>
      [...module.children.allTests()]
        .filter((test) => test.diagnostic()?.flaky === true)
        .map((test) => `  ${module.relativeModuleId}: ${test.fullName}\n`),
    );
    if (flaky.length === 0) return;
    process.stdout.write(`\nPassed only at their second try:\n${flaky.join("")}`);
  }
}
