/**
 * Settings that can't be used. Lists every mistake, not just the first. Each line states what is
 * wrong, where, and what to write instead; none repeats a secret's value.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}
