import type { Config } from "../../config.ts";
import { ConfigError, isEmptyHome, loadConfig } from "../../config.ts";
import { readPerson } from "../home/people.ts";
import { claimIfPossible } from "../home/private-file.ts";
import { CliError, EXIT, type ExitCode } from "../terminal/cli-error.ts";
import { Output } from "../terminal/output.ts";

/** The settings, and the person named by `--as`. */
export interface SpokenConfig extends Config {
  readonly person?: string | undefined;
}

/** What a command's work receives besides its own arguments. */
export interface CommandContext {
  readonly output: Output;
  /** Reads the settings on the first call. @throws {CliError} with every mistake in them */
  readonly config: () => SpokenConfig;
}

/** One call of the CLI: its output and its exit code. */
export class CliSession {
  output = new Output();
  exitCode: ExitCode = EXIT.done;
  /** The person in this home whose token is used in place of `PAYRUN_TOKEN`. */
  person: string | undefined;
  #config: SpokenConfig | undefined;
  /** The home, if there was nothing in it when the command began. */
  #newHome: string | undefined;

  /**
   * Does a command's work.
   *
   * @param work resolves with an exit code, or with nothing if it is done
   */
  async run(
    options: { readonly json?: boolean | undefined },
    work: (context: CommandContext) => Promise<ExitCode | void>,
  ): Promise<void> {
    this.output = new Output(options);
    const config = () => (this.#config ??= this.#asPerson(this.#read()));
    try {
      this.exitCode = (await work({ output: this.output, config })) ?? EXIT.done;
    } catch (error) {
      throw error instanceof ConfigError ? unusable(error) : error;
    } finally {
      const made = this.#newHome;
      if (made !== undefined && !isEmptyHome(made)) claimIfPossible(made);
    }
  }

  #read(): Config {
    const config = readConfig(this.output);
    if (isEmptyHome(config.home)) this.#newHome = config.home;
    return config;
  }

  #asPerson(config: Config): SpokenConfig {
    if (this.person === undefined) return config;
    const { person } = this;
    return { ...config, person, token: readPerson(config.home, person) };
  }
}

function readConfig(output: Output): Config {
  const config = loadConfig();
  for (const warning of config.warnings) output.note(`warning: ${warning}`);
  return config;
}

/** What `file:line:column:` begins with, if a mistake is in a file with businesses. */
const IN_FILE = /^(.+?):\d+:\d+: /;

function unusable({ problems }: ConfigError): CliError {
  const files = problems.map((problem) => IN_FILE.exec(problem)?.[1]);
  const settings = "the environment and from .env in this folder";
  const sources = new Set(files.map((file) => file ?? settings));
  return new CliError(EXIT.usage, `the settings can't be used:\n  ${problems.join("\n  ")}`, {
    code: "settings",
    hint: `They come from ${[...sources].join(", and from ")}.`,
    details: problems,
  });
}
