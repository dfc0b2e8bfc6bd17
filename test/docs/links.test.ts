import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

const PAGES = ["", "docs", "docs/decisions"].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name)),
);

const textOf = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** Returns the links of a page, outside code. */
function linksOf(text: string): string[] {
  const prose = text.replaceAll(/^```.*?^```/gms, "").replaceAll(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = ""]) => to);
}

/** Returns the anchors of a page's headings, as Markdown makes them. */
function anchorsOf(text: string): string[] {
  const headings = [...text.replaceAll(/^```.*?^```/gms, "").matchAll(/^#+ (.+)$/gm)];
  return headings.map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function isDead(page: string, link: string): boolean {
  if (/^(https?|mailto):/.test(link)) return false;
  const [file = "", anchor] = link.split("#");
  const path = file === "" ? page : join(dirname(page), file);
  if (!existsSync(join(ROOT, path))) return true;
  if (anchor === undefined || !path.endsWith(".md")) return false;
  return !anchorsOf(textOf(path)).includes(anchor);
}

test.each(PAGES)("every link of %s leads to a page, a file or a heading that exists", (page) => {
  expect(linksOf(textOf(page)).filter((link) => isDead(page, link))).toEqual([]);
});

test("the docs' index links to every page", () => {
  const listed = new Set(
    linksOf(textOf("docs/index.md")).map((link) => relative("", join("docs", link))),
  );
  const pages = PAGES.filter((page) => dirname(page) === "docs" && page !== "docs/index.md");
  expect(pages.filter((page) => !listed.has(page))).toEqual([]);
});
