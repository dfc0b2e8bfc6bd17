/**
 * Settings that can't be used. Every mistake is listed, not just the first, and each line says
 * what is wrong, where, and what to write instead; none repeats a secret's value.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}
