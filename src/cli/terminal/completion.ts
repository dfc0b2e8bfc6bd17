import type { CommandUnknownOpts, Option } from "@commander-js/extra-typings";

/** One command as a shell completes it: what may follow its name. */
export interface Completed {
  /** Names from the program's on, such as `payrun schedule list`. */
  readonly path: string;
  readonly commands: readonly Described[];
  readonly options: readonly CompletedOption[];
  /** What its arguments may be, where that is a fixed list; files and anything else are not. */
  readonly words: readonly string[];
}

interface Described {
  readonly name: string;
  readonly description: string;
}

export interface CompletedOption {
  /** As it may be typed: `--json`, `-V`. */
  readonly names: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

/** Everything that can be completed, read from the program's own commands and options. */
export function completedOf(program: CommandUnknownOpts, above = ""): Completed[] {
  const path = `${above}${program.name()}`;
  const help = program.createHelp();
  const below = help.visibleCommands(program);
  return [
    {
      path,
      commands: below.map((command) => ({
        name: command.name(),
        description: firstLine(command.summary() || command.description()),
      })),
      options: help.visibleOptions(program).map(optionOf),
      words: program.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    },
    ...below.flatMap((command) => completedOf(command, `${path} `)),
  ];
}

function optionOf({ long, short, description, required, optional, argChoices }: Option) {
  return {
    names: [long, short].filter((name) => name !== undefined),
    description: firstLine(description),
    takesValue: required || optional,
    choices: argChoices ?? [],
  };
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };
export type Shell = keyof typeof SCRIPTS;
export const SHELLS = Object.keys(SCRIPTS) as readonly Shell[];

/** The script that makes a shell complete the program's command lines. */
export function completionScript(shell: Shell, completed: readonly Completed[]): string[] {
  return SCRIPTS[shell](completed);
}

/** A word that no shell reads anything into. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function optionNames({ options }: Completed): string[] {
  return options.flatMap(({ names }) => names);
}

/** Finds which command a line has come to; the same in bash and zsh, but for where words stand. */
function pathCase(completed: readonly Completed[]): string[] {
  const paths = completed.slice(1).map(({ path }) => quoted(path));
  return [
    '    case "$path $word" in',
    `      ${paths.join("|")}) path="$path $word" ;;`,
    "    esac",
  ];
}

function bashScript(completed: readonly Completed[]): string[] {
  return [
    "# Completes payrun in bash. Load it with: source <(payrun completion bash)",
    "_payrun() {",
    "  local path=payrun word offered=",
    '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"',
    "  COMPREPLY=()",
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    ...pathCase(completed),
    "  done",
    '  case "$path $prev" in',
    ...completed.flatMap(({ path, options }) =>
      options
        .filter(({ takesValue }) => takesValue)
        .map(({ names, choices }) => {
          const patterns = names.map((name) => quoted(`${path} ${name}`)).join("|");
          const reply = `COMPREPLY=($(compgen -W ${quoted(choices.join(" "))} -- "$cur")); `;
          return `    ${patterns}) ${choices.length === 0 ? "" : reply}return ;;`;
        }),
    ),
    "  esac",
    '  case "$path" in',
    ...completed.map((each) => {
      const names = [...each.commands.map(({ name }) => name), ...each.words];
      const dashed = quoted(optionNames(each).join(" "));
      return `    ${quoted(each.path)}) if [[ $cur == -* ]]; then offered=${dashed}; else offered=${quoted(names.join(" "))}; fi ;;`;
    }),
    "  esac",
    '  COMPREPLY=($(compgen -W "$offered" -- "$cur"))',
    "}",
    "complete -o default -F _payrun payrun",
  ];
}

function zshScript(completed: readonly Completed[]): string[] {
  const described = (name: string, description: string): string =>
    quoted(`${name.replaceAll(":", "\\:")}:${description}`);
  return [
    "#compdef payrun",
    "# Completes payrun in zsh. Load it with: source <(payrun completion zsh)",
    "_payrun() {",
    "  local path=payrun word",
    "  local -a offered dashed",
    '  for word in "${(@)words[2,CURRENT-1]}"; do',
    ...pathCase(completed),
    "  done",
    '  case "$path ${words[CURRENT-1]}" in',
    ...completed.flatMap(({ path, options }) =>
      options
        .filter(({ takesValue }) => takesValue)
        .map(({ names, choices }) => {
          const patterns = names.map((name) => quoted(`${path} ${name}`)).join("|");
          const values = choices.map(quoted).join(" ");
          return `    ${patterns}) ${choices.length === 0 ? "_files" : `compadd -- ${values}`}; return ;;`;
        }),
    ),
    "  esac",
    '  case "$path" in',
    ...completed.map((each) => {
      const names = [
        ...each.commands.map(({ name, description }) => described(name, description)),
        ...each.words.map((word) => described(word, "")),
      ];
      const options = each.options.flatMap(({ names: of, description }) =>
        of.map((name) => described(name, description)),
      );
      return `    ${quoted(each.path)}) offered=(${names.join(" ")}); dashed=(${options.join(" ")}) ;;`;
    }),
    "  esac",
    "  if [[ $words[CURRENT] == -* ]]; then _describe -o payrun dashed",
    "  elif (( $#offered )); then _describe payrun offered",
    "  else _files; fi",
    "}",
    "compdef _payrun payrun",
  ];
}

function fishScript(completed: readonly Completed[]): string[] {
  return [
    "# Completes payrun in fish. Load it with: payrun completion fish | source",
    "function __payrun_at",
    "  set -l path payrun",
    "  for word in (commandline -opc)[2..-1]",
    '    if contains -- "$path $word" ' +
      completed
        .slice(1)
        .map(({ path }) => quoted(path))
        .join(" "),
    '      set path "$path $word"',
    "    end",
    "  end",
    '  test "$path" = "$argv"',
    "end",
    ...completed.flatMap((each) => {
      const at = `complete -c payrun -n ${quoted(`__payrun_at ${each.path}`)}`;
      return [
        ...each.commands.map(
          ({ name, description }) => `${at} -f -a ${quoted(name)} -d ${quoted(description)}`,
        ),
        ...each.words.map((word) => `${at} -f -a ${quoted(word)}`),
        ...each.options.map(({ names, description, takesValue, choices }) => {
          const named = names.map((name) =>
            name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
          );
          const value =
            choices.length > 0 ? ` -x -a ${quoted(choices.join(" "))}` : takesValue ? " -r" : "";
          return `${at} ${named.join(" ")}${value} -d ${quoted(description)}`;
        }),
      ];
    }),
  ];
}
