import type { Browser } from "playwright-core";

/** Escape codes that our texts use on a terminal, with their classes in the picture. */
const CLASSES: Readonly<Record<string, string>> = {
  ...{ "1": "bold", "2": "dim" },
  ...{ "31": "red", "32": "green", "33": "yellow" },
};

const STYLE = `
  body { margin: 0; background: #0f172a; }
  pre { margin: 0; padding: 28px; width: max-content; color: #f1f5f9; font: 16px/21px monospace;
    will-change: transform; }
  .bold { font-weight: bold; } .dim { color: #94a3b8; }
  .red { color: #f87171; } .green { color: #4ade80; } .yellow { color: #fbbf24; }`;

/** Draws the colored output of a command as a terminal shows it. */
export async function drawTerminal(browser: Browser, printed: string, path: string) {
  const page = await browser.newPage();
  await page.setContent(`<style>${STYLE}</style><pre>${asHtml(printed.trim())}</pre>`);
  await page.locator("pre").screenshot({ path });
  await page.close();
}

function asHtml(printed: string): string {
  const worn = new Set<string>();
  const [first = "", ...rest] = printed.split("\u001B[");
  const parts = rest.map((part) => {
    const [, code = "", text = ""] = /^(\d+)m([^]*)$/.exec(part) ?? [];
    wear(worn, code);
    return `<span class="${[...worn].join(" ")}">${escaped(text)}</span>`;
  });
  return escaped(first) + parts.join("");
}

/** Applies an escape code: 22 ends bold and dim, 39 a color, 0 all. */
function wear(worn: Set<string>, code: string): void {
  const ended = { "0": /./, "22": /bold|dim/, "39": /red|green|yellow/ }[code];
  for (const each of worn) if (ended?.test(each) === true) worn.delete(each);
  const begun = CLASSES[code];
  if (begun !== undefined) worn.add(begun);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
