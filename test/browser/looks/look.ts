import type { Page } from "playwright-core";
import { findings, lowTargets, overflow } from "../support/visitor.ts";

/** A way to look at a page. */
export interface Look {
  readonly name: string;
  readonly colorScheme: "light" | "dark";
  readonly size: { readonly width: number; readonly height: number };
  readonly isPhone: boolean;
}

const WIDE = { size: { width: 1280, height: 860 }, isPhone: false };
const PHONE = { size: { width: 390, height: 844 }, isPhone: true };

export const LOOKS = [
  { name: "wide-light", colorScheme: "light", ...WIDE },
  { name: "wide-dark", colorScheme: "dark", ...WIDE },
  { name: "phone-light", colorScheme: "light", ...PHONE },
  { name: "phone-dark", colorScheme: "dark", ...PHONE },
] as const satisfies readonly Look[];

export async function wear(page: Page, look: Look = LOOKS[0], isPrinted = false): Promise<void> {
  await page.setViewportSize(look.size);
  await page.emulateMedia({
    colorScheme: look.colorScheme,
    media: isPrinted ? "print" : "screen",
  });
}

/** Returns what prevents reading or hitting parts of a page in one look, with or without axe. */
export async function faults(page: Page, look: Look, withAxe: boolean): Promise<string[]> {
  const wider = await overflow(page);
  const [heads, cut] = await page.evaluate<[number, string[]]>(SEEN_TEXT);
  return [
    ...(withAxe ? await findings(page) : []),
    ...(wider > 0 ? [`${wider} pixels wider than the window`] : []),
    ...(heads === 1 ? [] : [`${heads} first headings`]),
    ...cut.map((text) => `cut off: ${text}`),
    ...(await lowTargets(page, look.isPhone ? 44 : 24)).map((target) => `low: ${target}`),
  ];
}

/** Returns the number of first headings, and texts that stick out of their boxes. */
const SEEN_TEXT = `(() => {
  const heads = [...document.querySelectorAll("h1")].filter((it) => it.checkVisibility());
  const cut = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node !== null; node = walk.nextNode()) {
    const of = node.parentElement;
    if (node.textContent.trim() === "" || !of.checkVisibility()) continue;
    if (of.closest(".hidden, .skip, thead, option") !== null) continue;
    const box = of.closest("section, .note, button, .badge, td, th, dd, main, .top, .foot");
    const range = document.createRange();
    range.selectNodeContents(node);
    const text = range.getBoundingClientRect();
    const around = (box ?? document.body).getBoundingClientRect();
    if (text.right > around.right + 1 || text.left < around.left - 1) cut.push(node.textContent.trim().slice(0, 60));
  }
  for (const input of document.querySelectorAll("input:not([type=hidden])")) {
    if (input.checkVisibility() && input.scrollWidth > input.clientWidth + 1) cut.push(input.name + ": " + input.value);
  }
  return [heads.length, cut];
})()`;
