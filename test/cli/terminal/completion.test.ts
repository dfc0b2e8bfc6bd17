import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { pageText, shellFunction } from "../../support/docs.ts";
import { payrun, temporaryFolder } from "../cli.ts";

const run = promisify(execFile);
const hasBash = ["/bin/bash", "/usr/bin/bash"].some((path) => existsSync(path));
const hasZsh = ["/bin/zsh", "/usr/bin/zsh"].some((path) => existsSync(path));

let script: string;

beforeAll(async () => {
  const { code, stdout } = await payrun(["completion", "bash"], { cwd: tmpdir() });
  expect(code).toBe(0);
  script = stdout;
});

/** Replaces payrun: writes its arguments into `asked`, and prints the names in `known`, if any. */
const PROGRAM = `#!/bin/sh
echo "$*" > asked
[ -e known ] && cat known
exit 0
`;

/** Returns what a real bash offers for these words, the last of which is being typed. */
async function offered(...words: readonly string[]): Promise<string[]> {
  return (await completed(words)).offered;
}

/** Returns the same, and what the program was asked for, if the program knows these names. */
async function completed(words: readonly string[], known: readonly string[] = []) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "completion.bash"), script);
  writeFileSync(join(folder, "payrun"), PROGRAM, { mode: 0o755 });
  if (known.length > 0) writeFileSync(join(folder, "known"), known.join("\n") + "\n");
  const typed = ["payrun", ...words];
  const program = [
    "source ./completion.bash",
    'COMP_WORDS=("$@")',
    `COMP_CWORD=${typed.length - 1}`,
    "_payrun",
    'printf "%s\\n" "${COMPREPLY[@]}"',
  ].join("\n");
  const env = { ...process.env, PATH: `${folder}:${process.env["PATH"] ?? ""}` };
  const { stdout } = await run("bash", ["-c", program, "bash", ...typed], { cwd: folder, env });
  const asked = join(folder, "asked");
  return {
    offered: stdout.split("\n").filter((line) => line !== ""),
    asked: existsSync(asked) ? readFileSync(asked, "utf8").trim() : "nothing",
  };
}

describe.runIf(hasBash)("completion in a real bash", () => {
  test("completion offers all commands, or those that begin as typed", async () => {
    const all = await offered("");
    for (const name of ["up", "launch", "status", "cancel-scheduled", "completion", "help"]) {
      expect(all).toContain(name);
    }
    expect(await offered("re")).toEqual(expect.arrayContaining(["resolve", "report", "reject"]));
    expect(await offered("stat")).toEqual(["status"]);
  });

  test("completion offers a command's options and subcommands", async () => {
    expect(await offered("status", "--")).toEqual([
      ...["--bills", "--needs-action", "--kind", "--playbook", "--phase", "--page"],
      ...["--json", "--help"],
    ]);
    expect(await offered("launch", "weekly-vendors", "--wa")).toEqual(["--wait"]);
    expect(await offered("schedule", "p")).toEqual(["pause"]);
    expect(await offered("token", "create", "ann", "--e")).toEqual(["--expires"]);
  });

  test("completion leaves values and files to the shell, unless a list of values is known", async () => {
    expect(await offered("launch", "weekly", "--period", "")).toEqual([]);
    expect(await offered("apply", "")).toEqual([]);
    expect(await offered("completion", "")).toEqual(["bash", "zsh", "fish"]);
  });

  test("completion asks the program for the names of runs, bills, vendors, holds and accounts", async () => {
    const asked = async (...words: readonly string[]) => (await completed(words)).asked;
    for (const command of ["show", "status", "approve", "reject", "watch", "report", "cancel"]) {
      expect(await asked(command, "re"), command).toBe("complete run -- re");
    }
    for (const command of ["explain", "hold", "cancel-scheduled", "resolve", "pay"]) {
      expect(await asked(command, "BILL"), command).toBe("complete bill -- BILL");
    }
    expect(await asked("release", "")).toBe("complete hold --");
    expect(await asked("stop", "--run", "rent/")).toBe("complete run -- rent/");
    expect(await asked("stop", "--contact", "Os")).toBe("complete vendor -- Os");
    expect(await asked("hold", "--source", "B")).toBe("complete account -- B");
    expect(await asked("status", "--b")).toBe("nothing");
  });

  test("completion offers a second name only for a command that takes several", async () => {
    const asked = async (...words: readonly string[]) => (await completed(words)).asked;
    expect(await asked("show", "rent", "")).toBe("nothing");
    expect(await asked("watch", "rent", "re")).toBe("nothing");
    expect(await asked("approve", "--reason", "fine", "re")).toBe("complete run -- re");
    expect(await asked("show", "--as", "cora", "re")).toBe("complete run -- re");
    expect(await asked("resolve", "BILL-1", "BILL")).toBe("complete bill -- BILL");
    expect(await offered("show", "rent", "--js")).toEqual(["--json"]);
  });

  test("completion works with README's lines, where payrun is a function that calls npx", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "completion.bash"), script);
    const [, load = ""] =
      /`(source <\(payrun completion bash\))`/.exec(pageText("README.md")) ?? [];
    const lines = [
      // Replaces npx, which runs the program of the current folder.
      'npx() { [ "$*" = "payrun completion bash" ] && cat completion.bash || echo "$*"; }',
      ...[shellFunction(), load],
      "COMP_WORDS=(payrun show re) COMP_CWORD=2",
      '_payrun && printf "%s\\n" "${COMPREPLY[@]}"',
    ];
    const { stdout } = await run("bash", ["-c", lines.join("\n")], { cwd: folder });
    expect(stdout).toContain("payrun\\ complete\\ run\\ --\\ re");
  });

  test("completion offers the people of this home after --as", async () => {
    expect(await completed(["approve", "rent", "--as", "co"], ["cora"])).toMatchObject({
      asked: "complete person -- co",
      offered: ["cora"],
    });
  });

  test("completion offers a name of several words as one word of the shell", async () => {
    const known = ["Osprey Robotics", "O'Hara & Sons"];
    const plain = await completed(["explain", "O"], known);
    expect(plain.offered).toEqual(["Osprey\\ Robotics", "O\\'Hara\\ \\&\\ Sons"]);
    expect(await completed(["explain", "Osprey\\ R"], known)).toMatchObject({
      asked: "complete bill -- Osprey R",
    });
    expect(await completed(["explain", '"Osprey R'], known)).toMatchObject({
      asked: "complete bill -- Osprey R",
      offered: known,
    });
  });

  test("completion offers --yes for every command that acts, even if it never asks", async () => {
    for (const command of [
      ...["approve", "reject", "stop", "resolve", "release", "hold", "launch", "apply"],
      ...["cancel-scheduled", "pay", "revert"],
    ]) {
      expect(await offered(command, "--y"), command).toEqual(["--yes"]);
    }
    for (const [noun, verb] of [
      ...["create", "confirm", "renew", "revoke"].map((each) => ["token", each] as const),
      ...["pause", "resume", "delete", "backfill"].map((each) => ["schedule", each] as const),
      ...([
        ["session", "revoke"],
        ["playbook", "confirm"],
      ] as const),
    ]) {
      expect(await offered(noun, verb, "--y"), `${noun} ${verb}`).toEqual(["--yes"]);
    }
  });

  test("completion offers every command that the help lists", async () => {
    const { stdout } = await payrun(["--help"]);
    const named = [...stdout.matchAll(/^ {2}([a-z][a-z-]+)\b/gm)].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(25);
    expect(await offered("")).toEqual(expect.arrayContaining(named));
  });
});

test("zsh can still find the program while it completes", async () => {
  // To zsh, `path` is the PATH: a local variable of that name hides every program.
  const { stdout } = await payrun(["completion", "zsh"]);
  expect(stdout).not.toMatch(/\bpath=/);
});

describe.runIf(hasZsh)("completion in a real zsh", () => {
  test("the zsh script loads into a shell without a completion system", async () => {
    const folder = temporaryFolder();
    const { stdout: zshScript } = await payrun(["completion", "zsh"]);
    writeFileSync(join(folder, "completion.zsh"), zshScript);
    const program = "source ./completion.zsh && print -r -- $_comps[payrun]";
    const env = { ...process.env, ZDOTDIR: folder };
    const { stdout } = await run("zsh", ["-fc", program], { cwd: folder, env });
    expect(stdout).toBe("_payrun\n");
  });

  test("zsh completion offers the program's names, each as one word", async () => {
    const folder = temporaryFolder();
    const { stdout: zshScript } = await payrun(["completion", "zsh"]);
    writeFileSync(join(folder, "completion.zsh"), zshScript);
    writeFileSync(join(folder, "payrun"), PROGRAM, { mode: 0o755 });
    writeFileSync(join(folder, "known"), "rent\nOsprey Robotics\n");
    const program = [
      "compdef() { : }",
      'compadd() { print -rl -- "${(P@)2}" }',
      "source ./completion.zsh",
      "words=(payrun explain r) CURRENT=3 PREFIX=r",
      "_payrun",
    ].join("\n");
    const env = { ...process.env, PATH: `${folder}:${process.env["PATH"] ?? ""}` };
    const { stdout } = await run("zsh", ["-fc", program], { cwd: folder, env });
    expect(stdout).toBe("rent\nOsprey Robotics\n");
    expect(readFileSync(join(folder, "asked"), "utf8").trim()).toBe("complete bill -- r");
  });
});

test("the scripts for zsh and fish contain commands, options and names too", async () => {
  const scripts = await Promise.all(["zsh", "fish"].map((shell) => payrun(["completion", shell])));
  for (const { stdout } of scripts) {
    expect(stdout).toContain("payrun schedule pause");
    expect(stdout).toContain("needs-action");
    expect(stdout).toMatch(/complete (bill|"\$1") -- /);
  }
  expect((await payrun(["completion", "tcsh"])).code).toBe(2);
});
