import type { CommandUnknownOpts, Option } from "@commander-js/extra-typings";

/** One command as a shell completes it: what may follow its name. */
export interface Completed {
  /** Names starting with the program's, such as `payrun schedule list`. */
  readonly path: string;
  readonly commands: readonly Described[];
  readonly options: readonly CompletedOption[];
  /**
   * The possible values of its arguments if they are a fixed list; file names and free values are
   * not included.
   */
  readonly words: readonly string[];
  /** The kind of thing that its arguments name, if the gateway knows the names. */
  readonly asks: string | undefined;
  /** True if it takes several of them in a row. */
  readonly takesSeveral: boolean;
}

interface Described {
  readonly name: string;
  readonly description: string;
}

export interface CompletedOption {
  /** The spellings of the option: `--json`, `-V`. */
  readonly names: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
  /** As for a command. */
  readonly asks: string | undefined;
}

/**
 * The kinds that are completed with the gateway's names, by the word for an argument or a value in
 * the help.
 */
const ASKED: Readonly<Record<string, string>> = {
  run: "run",
  bill: "bill",
  payment: "bill",
  vendor: "vendor",
  account: "account",
  hold: "hold",
};

function askedFor(names: readonly string[]): string | undefined {
  return names.map((name) => ASKED[name]).find((kind) => kind !== undefined);
}

/** Returns everything that can be completed, read from the program's own commands and options. */
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
      asks: askedFor(program.registeredArguments.map((argument) => argument.name())),
      takesSeveral: program.registeredArguments.some(({ variadic }) => variadic),
    },
    ...below.flatMap((command) => completedOf(command, `${path} `)),
  ];
}

function optionOf(option: Option): CompletedOption {
  const { long, short, flags, description, required, optional, argChoices } = option;
  return {
    names: [long, short].filter((name) => name !== undefined),
    description: firstLine(description),
    takesValue: required || optional,
    choices: argChoices ?? [],
    asks: askedFor([/[<[](\w+)[\].>]/.exec(flags)?.[1] ?? ""]),
  };
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };
export type Shell = keyof typeof SCRIPTS;
export const SHELLS = Object.keys(SCRIPTS) as readonly Shell[];

/** Returns the script that makes a shell complete the program's command lines. */
export function completionScript(shell: Shell, completed: readonly Completed[]): string[] {
  return SCRIPTS[shell](completed);
}

/** Quotes a word so that no shell interprets it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function optionNames({ options }: Completed): string[] {
  return options.flatMap(({ names }) => names);
}

/** The option of every command that names one of the people of this home. */
const AS = "--as";

/** Returns the options that take a value, each behind its command. */
function valueOptions(completed: readonly Completed[]): string[] {
  return completed.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ names }) => names.map((name) => `${path} ${name}`)),
  );
}

/**
 * Finds the command that a line has reached, and how many of its arguments have been typed. Bash
 * and zsh share this, apart from the positions of words. The variable can't be called `path`: in
 * zsh that is the PATH.
 */
function pathCase(completed: readonly Completed[]): string[] {
  const paths = completed.slice(1).map(({ path }) => quoted(path));
  return [
    "    if [[ -n $value ]]; then value=; continue; fi",
    '    case "$at $word" in',
    `      ${paths.join("|")}) at="$at $word"; given=0 ;;`,
    `      *' ${AS}'|${valueOptions(completed).map(quoted).join("|")}) value=1 ;;`,
    '      "$at -"*) ;;',
    "      *) given=$((given + 1)) ;;",
    "    esac",
  ];
}

/** After one name, a second isn't offered if the command takes only one. */
const ENOUGH = "(( given )) && [[ $cur != -* ]] && return";

function bashScript(completed: readonly Completed[]): string[] {
  return [
    "# Completes payrun in bash. Load it with: source <(payrun completion bash)",
    "_payrun_names() {",
    "  local begun=${cur//\\\\/} name",
    "  begun=${begun#[\\\"\\']}",
    "  while IFS= read -r name; do",
    String.raw`    [[ $cur == [\"\']* ]] || printf -v name %q "$name"`,
    '    COMPREPLY+=("$name")',
    '  done < <("${COMP_WORDS[0]}" complete "$1" -- "$begun" 2>/dev/null)',
    "}",
    "_payrun() {",
    "  local at=payrun word offered= value= given=0",
    '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"',
    "  COMPREPLY=()",
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    ...pathCase(completed),
    "  done",
    `  [[ $prev == ${AS} ]] && { _payrun_names person; return; }`,
    '  case "$at $prev" in',
    ...completed.flatMap(({ path, options }) =>
      options
        .filter(({ takesValue }) => takesValue)
        .map(({ names, choices, asks }) => {
          const patterns = names.map((name) => quoted(`${path} ${name}`)).join("|");
          if (asks !== undefined) return `    ${patterns}) _payrun_names ${asks}; return ;;`;
          const reply = `COMPREPLY=($(compgen -W ${quoted(choices.join(" "))} -- "$cur")); `;
          return `    ${patterns}) ${choices.length === 0 ? "" : reply}return ;;`;
        }),
    ),
    "  esac",
    '  case "$at" in',
    ...completed.map((each) => {
      const names = [...each.commands.map(({ name }) => name), ...each.words];
      const dashed = quoted(optionNames(each).join(" "));
      const others =
        each.asks === undefined
          ? `offered=${quoted(names.join(" "))}`
          : `_payrun_names ${each.asks}; return`;
      const enough = each.asks === undefined || each.takesSeveral ? "" : `${ENOUGH}; `;
      return `    ${quoted(each.path)}) ${enough}if [[ $cur == -* ]]; then offered=${dashed}; else ${others}; fi ;;`;
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
    "_payrun_names() {",
    "  local -a names",
    '  names=(${(f)"$("$words[1]" complete "$1" -- "${(Q)PREFIX}" 2>/dev/null)"})',
    "  compadd -a names",
    "}",
    "_payrun() {",
    '  local at=payrun word value= given=0 cur="$words[CURRENT]"',
    "  local -a offered dashed",
    "  local asks=",
    '  for word in "${(@)words[2,CURRENT-1]}"; do',
    ...pathCase(completed),
    "  done",
    `  if [[ \${words[CURRENT-1]} == ${AS} ]]; then _payrun_names person; return; fi`,
    '  case "$at ${words[CURRENT-1]}" in',
    ...completed.flatMap(({ path, options }) =>
      options
        .filter(({ takesValue }) => takesValue)
        .map(({ names, choices, asks }) => {
          const patterns = names.map((name) => quoted(`${path} ${name}`)).join("|");
          if (asks !== undefined) return `    ${patterns}) _payrun_names ${asks}; return ;;`;
          const values = choices.map(quoted).join(" ");
          return `    ${patterns}) ${choices.length === 0 ? "_files" : `compadd -- ${values}`}; return ;;`;
        }),
    ),
    "  esac",
    '  case "$at" in',
    ...completed.map((each) => {
      const names = [
        ...each.commands.map(({ name, description }) => described(name, description)),
        ...each.words.map((word) => described(word, "")),
      ];
      const options = each.options.flatMap(({ names: of, description }) =>
        of.map((name) => described(name, description)),
      );
      const asked = each.asks === undefined ? "" : ` asks=${each.asks}`;
      const enough = each.asks === undefined || each.takesSeveral ? "" : `${ENOUGH}; `;
      return `    ${quoted(each.path)}) ${enough}offered=(${names.join(" ")}); dashed=(${options.join(" ")})${asked} ;;`;
    }),
    "  esac",
    "  if [[ $words[CURRENT] == -* ]]; then _describe -o payrun dashed",
    "  elif [[ -n $asks ]]; then _payrun_names $asks",
    "  elif (( $#offered )); then _describe payrun offered",
    "  else _files; fi",
    "}",
    // A shell without its own start file has no completion yet.
    "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }",
    "compdef _payrun payrun",
  ];
}

function fishScript(completed: readonly Completed[]): string[] {
  return [
    "# Completes payrun in fish. Load it with: payrun completion fish | source",
    "function __payrun_at",
    "  set -l path payrun",
    "  set -l value 0",
    "  set -g __payrun_given 0",
    "  for word in (commandline -opc)[2..-1]",
    "    if test $value = 1",
    "      set value 0",
    '    else if contains -- "$path $word" ' +
      completed
        .slice(1)
        .map(({ path }) => quoted(path))
        .join(" "),
    '      set path "$path $word"',
    "      set __payrun_given 0",
    `    else if test "$word" = ${AS}; or contains -- "$path $word" ${valueOptions(completed).map(quoted).join(" ")}`,
    "      set value 1",
    "    else if not string match -q -- '-*' \"$word\"",
    "      set __payrun_given (math $__payrun_given + 1)",
    "    end",
    "  end",
    '  test "$path" = "$argv"',
    "end",
    "function __payrun_first",
    '  __payrun_at "$argv"; and test $__payrun_given = 0',
    "end",
    `complete -c payrun -l ${AS.slice(2)} -x -a ${quoted(fishNames("person"))}`,
    ...completed.flatMap((each) => {
      const at = `complete -c payrun -n ${quoted(`__payrun_at ${each.path}`)}`;
      return [
        ...each.commands.map(
          ({ name, description }) => `${at} -f -a ${quoted(name)} -d ${quoted(description)}`,
        ),
        ...each.words.map((word) => `${at} -f -a ${quoted(word)}`),
        ...(each.asks === undefined
          ? []
          : [
              `${each.takesSeveral ? at : at.replace("__payrun_at", "__payrun_first")} -f -a ${quoted(fishNames(each.asks))}`,
            ]),
        ...each.options.map(({ names, description, takesValue, choices, asks }) => {
          const named = names.map((name) =>
            name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
          );
          const known = asks === undefined ? choices.join(" ") : fishNames(asks);
          const value = known !== "" ? ` -x -a ${quoted(known)}` : takesValue ? " -r" : "";
          return `${at} ${named.join(" ")}${value} -d ${quoted(description)}`;
        }),
      ];
    }),
  ];
}

function fishNames(kind: string): string {
  return `(payrun complete ${kind} -- (commandline -ct) 2>/dev/null)`;
}
