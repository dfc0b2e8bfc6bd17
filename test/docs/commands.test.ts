import { existsSync, readFileSync } from "node:fs";
import { type Command, CommanderError } from "@commander-js/extra-typings";
import { describe, expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { CliSession } from "../../src/cli/client/session.ts";
import { commandsOf, pages, pageText, wordsOf } from "../support/docs.ts";

/** The test that runs each command of a page against a whole stack. */
const RUN_BY: Readonly<Record<string, string>> = {
  "README.md": "test/e2e/first-steps.test.ts",
  "docs/audit.md": "test/e2e/first-steps.test.ts",
  "docs/cancel-scheduled.md": "test/e2e/cancel-scheduled-docs.test.ts",
  "docs/hold.md": "test/e2e/cancel-scheduled-docs.test.ts",
  "docs/integrating.md": "test/cli/integrating-docs.test.ts",
  "docs/kyb-onboarding.md": "test/e2e/kyb-docs.test.ts",
  "docs/notices.md": "test/e2e/notices.test.ts",
  "docs/off-cycle.md": "test/e2e/off-cycle.test.ts",
  "docs/people.md": "test/cli/people-docs.test.ts",
  "docs/retry-failed.md": "test/e2e/incidents.test.ts",
  "docs/top-up.md": "test/e2e/top-up.test.ts",
};

/** Returns why a command line is refused, without running it; undefined if it is accepted. */
async function refusal(words: readonly string[]): Promise<string | undefined> {
  const program = await createProgram(new CliSession(), words);
  disarm(program);
  try {
    await program.parseAsync([...words], { from: "user" });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) return error.message;
    throw error;
  }
}

function disarm(command: Command): void {
  command.configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  // A group with options of its own, such as `sandbox`, is a command itself.
  const acts = command.parent !== null && command.options.length > 0;
  if (acts || command.commands.length === 0) command.action(() => undefined);
  for (const each of command.commands) disarm(each as Command);
}

/** Pages put optional parts in brackets. */
function withAllOptions(command: string): string {
  return command.replace(/[[\]]/g, "");
}

/** Returns commands named in a page's sentences and tables, many of them without arguments. */
function namedIn(page: string): string[] {
  const prose = pageText(page).replace(/^```\w*\n[\s\S]*?^```/gm, "");
  return [...prose.matchAll(/`((?:npx )?payrun [a-z][^`]*)`/g)].map(([, text = ""]) => text);
}

describe.each(pages())("%s", (page) => {
  test("a page's code blocks contain only commands that the program accepts", async () => {
    const refused = [];
    for (const command of commandsOf(page)) {
      const why = await refusal(wordsOf(withAllOptions(command)));
      if (why !== undefined) refused.push({ command, why });
    }
    expect(refused).toEqual([]);
  });

  test("a page's text names only commands and options that exist", async () => {
    const refused = [];
    for (const command of namedIn(page)) {
      const why = await refusal(wordsOf(withAllOptions(command)));
      // A sentence may name a command without its arguments.
      if (why !== undefined && !/missing required argument|required option/.test(why)) {
        refused.push({ command, why });
      }
    }
    expect(refused).toEqual([]);
  });
});

test("unknown commands and options are refused, and a known command is accepted", async () => {
  expect(await refusal(["lunch", "weekly"])).toContain("unknown command");
  expect(await refusal(["launch", "weekly", "--soon"])).toContain("unknown option");
  expect(await refusal(["launch"])).toContain("missing required argument");
  expect(await refusal(["launch", "weekly", "--wait"])).toBeUndefined();
});

test("the README names each command without --json, and no other", async () => {
  const program = await createProgram(new CliSession(), []);
  const without = (command: Command, path: readonly string[]): string[] => {
    const below = command.createHelp().visibleCommands(command) as Command[];
    const acts = below.length === 0 || (path.length > 0 && command.options.length > 0);
    const takes = command.options.some(({ long }) => long === "--json");
    return [
      ...(acts && !takes ? [path.join(" ")] : []),
      ...below
        .filter((each) => each.name() !== "help")
        .flatMap((each) => without(each, [...path, each.name()])),
    ];
  };
  const [, named = ""] =
    /Every command except (.*?) takes `--json`/.exec(pageText("README.md")) ?? [];
  const names = [...named.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
  expect(without(program, []).toSorted()).toEqual(names.toSorted());
});

describe("the tests that run the pages' commands", () => {
  test("every page with commands has a test that runs them, and no other page has", () => {
    const showing = pages().filter((page) => commandsOf(page).length > 0);
    expect(showing.toSorted()).toEqual(Object.keys(RUN_BY).toSorted());
  });

  test.each(Object.entries(RUN_BY))("the commands of %s are run by %s", (page, file) => {
    const path = new URL(`../../${file}`, import.meta.url);
    expect(existsSync(path)).toBe(true);
    expect(readFileSync(path, "utf8")).toContain(`commandsOf("${page}")`);
  });
});
