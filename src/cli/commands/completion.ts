import { Argument, type Command } from "@commander-js/extra-typings";

import { completedOf, completionScript, SHELLS } from "../terminal/completion.ts";
import type { CliSession } from "../client/session.ts";

const HELP = `
bash   echo 'source <(payrun completion bash)' >> ~/.bashrc
zsh    echo 'source <(payrun completion zsh)' >> ~/.zshrc   (after compinit)
fish   echo 'payrun completion fish | source' >> ~/.config/fish/config.fish`;

export function addCompletionCommand(program: Command, session: CliSession): void {
  program
    .command("completion")
    .description("print a completion script for a shell")
    .addArgument(new Argument("<shell>", "which shell").choices(SHELLS))
    .addHelpText("after", HELP)
    .action((shell) =>
      session.run({}, async ({ output }) => {
        for (const line of completionScript(shell, completedOf(program))) output.verbatim(line);
      }),
    );
}
