import { readdirSync, readFileSync } from "node:fs";

const ROOT = new URL("../../", import.meta.url);

/** Returns the pages that show commands to people, as paths from the checkout's root. */
export function pages(): string[] {
  const docs = readdirSync(new URL("docs/", ROOT)).filter((name) => name.endsWith(".md"));
  return ["README.md", ...docs.map((name) => `docs/${name}`)];
}

export function pageText(page: string): string {
  return readFileSync(new URL(page, ROOT), "utf8");
}

/** Returns a page's code blocks in these languages, in order. */
export function blocksOf(
  page: string,
  languages: readonly string[],
): { readonly language: string; readonly text: string }[] {
  return [...pageText(page).matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)]
    .map(([, language = "", text = ""]) => ({ language, text }))
    .filter(({ language }) => languages.includes(language));
}

/** Returns the paths into our folders that a text has in backticks, none with `*` or the like. */
export function pathsIn(text: string): string[] {
  const path =
    /`((?:src|workflows|activities|test|docs|scripts|bench|playbooks|docker|bin|types)\/[\w./-]*)`/g;
  return [...text.matchAll(path)].map(([, named = ""]) => named);
}

/** Returns the `payrun` commands of a page's code blocks, in order, as a reader would type them. */
export function commandsOf(page: string): string[] {
  return [...pageText(page).matchAll(/^```\w*\n([\s\S]*?)^```/gm)]
    .flatMap(([, block = ""]) => block.split("\n"))
    .filter((line) => /^(?:\w+=\S+ )?(?:npx )?payrun /.test(line));
}

/** Returns the shell function that README defines for a shell that doesn't know `payrun`. */
export function shellFunction(): string {
  const [, text] = /`(payrun\(\) \{.*?\})`/.exec(pageText("README.md")) ?? [];
  if (text === undefined) throw new Error("README shows no way to type payrun alone");
  return text;
}

/**
 * Returns a command's words after the program's name, as a shell would split them; comments are
 * left out.
 */
export function wordsOf(command: string): string[] {
  const [, rest = ""] = /\bpayrun (.*)$/.exec(command) ?? [];
  return [...rest.replace(/\s# .*$/, "").matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, bare]) => quoted ?? bare ?? "",
  );
}
