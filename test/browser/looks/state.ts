import type { Page } from "playwright-core";
import type { World } from "./world.ts";

/** The person who looks, signed in by a link. */
export interface Who {
  readonly name: string;
  readonly roles: readonly string[];
  readonly businesses: readonly string[];
}

/** A page in a state that people may see. */
export interface State {
  /** The name of its picture. */
  readonly name: string;
  /** Null if nobody is signed in. */
  readonly who: Who | null;
  /** Brings the page into the state. */
  readonly come: (page: Page, world: World) => Promise<void>;
  /** True if an address alone leads to the state. */
  readonly isAddress?: true;
  /** True if the page is shown as it is printed. */
  readonly isPrinted?: true;
}

type Path = string | ((world: World) => string);

const who = (name: string, roles: readonly string[], business: string): Who => ({
  ...{ name, roles, businesses: [business] },
});

export const CORA = who("cora", ["controller"], "acme");
export const OTTO = who("otto", ["owner"], "acme");
export const VERA = who("vera", ["viewer"], "acme");
/** Has launched the run, and therefore may not approve it. */
export const LOU = who("lou", ["launcher", "controller"], "acme");
export const HANNA = who("hanna", ["operator", "owner", "controller"], "hooli");
export const GRETA = who("greta", ["operator", "controller"], "globex");
export const IVY = who("ivy", ["controller"], "initech");
export const URSULA = who("ursula", ["operator", "owner", "controller"], "umbrella");
export const BOTH: Who = { ...CORA, name: "bo", businesses: ["acme", "globex"] };

/** Opens a path of the world's gateway in the page. */
export async function go(page: Page, world: World, path: Path): Promise<void> {
  await page.goto(`${world.gateway.url}${typeof path === "string" ? path : path(world)}`);
}

/** Returns the state of a page that an address leads to. */
export function at(name: string, whoLooks: Who | null, path: Path): State {
  return { name, who: whoLooks, isAddress: true, come: (page, world) => go(page, world, path) };
}

/** What is filled in, by label, and which boxes are checked. */
export interface Filled {
  readonly text?: Readonly<Record<string, string>>;
  readonly check?: readonly string[];
}

/**
 * Returns the state of the page that answers a form; the form is sent even if a browser would
 * refuse it.
 */
export function answer(
  name: string,
  whoLooks: Who | null,
  of: { readonly path: Path; readonly filled?: Filled; readonly button: string },
): State {
  return {
    name,
    who: whoLooks,
    async come(page, world) {
      await go(page, world, of.path);
      await send(page, of.filled ?? {}, of.button);
    },
  };
}

export async function send(page: Page, filled: Filled, button: string): Promise<void> {
  for (const [label, text] of Object.entries(filled.text ?? {})) {
    await page.locator("main").getByLabel(label, { exact: true }).fill(text);
  }
  for (const label of filled.check ?? []) await page.locator("main").getByLabel(label).check();
  await page.evaluate("for (const form of document.forms) form.noValidate = true");
  const before = await page.evaluate<number>("performance.timeOrigin");
  await page.locator("main").getByRole("button", { name: button, exact: true }).click();
  // The page before may have the same address.
  await page.waitForFunction(
    `performance.timeOrigin !== ${before} && document.readyState === "complete"`,
  );
}
