import type { Page } from "playwright-core";
import type { SignInWorld } from "./sign-in-world.ts";
import { answer, at, CORA, GRETA, go, IVY, send, type State } from "./state.ts";

/** Returns a state of a page of the sign-in world, with nobody signed in. */
function door(name: string, come: (page: Page, of: SignInWorld) => Promise<void>): State {
  return { ...{ name, who: null }, come: (page, { signIn }) => come(page, signIn) };
}

/**
 * Signs in at the provider, whose own cookies have expired by the browser's clock, unlike the
 * test's.
 */
async function viaProvider(page: Page, { door: { url }, provider }: SignInWorld, person: string) {
  const there = page.waitForRequest((request) =>
    request.url().startsWith(`${provider.issuer}/auth`),
  );
  await page.goto(`${url}/sign-in/provider?business=acme`);
  await page.goto(await provider.letIn((await there).url(), person));
}

/** Signing in, searching, and missing pages. */
export const AROUND: readonly State[] = [
  at("search-nothing", GRETA, "/search?q=Zzyzx+Road"),
  at("search-one-near", GRETA, "/search?q=Marlowe"),
  at("search-many", GRETA, "/search?q=o"),
  at("search-amount", GRETA, "/search?q=2%2C450.00"),
  at("search-service-away", CORA, "/search?q=Harbor"),
  at("search-nothing-service-away", IVY, "/search?q=Harbor"),
  at("no-such-page", CORA, "/nowhere"),
  at("no-such-page-for-nobody", null, "/nowhere"),
  at("other-business", IVY, "/bills/pbl_0104"),
  at("sign-in", null, "/sign-in"),
  at("sign-in-again", null, "/sign-in?again=true"),
  at("sign-in-ended", null, "/sign-in?unsent=true"),
  at("sign-in-link", null, "/sign-in#a-code"),
  answer("sign-in-used-link", null, {
    path: "/sign-in",
    filled: { text: { "Code of your link": "used-before" } },
    button: "Sign in",
  }),
  at("signed-in", CORA, "/sign-in"),
  door("door", async (page, { door: { url } }) => {
    await page.goto(`${url}/sign-in`);
  }),
  door("door-mailed", async (page, { door: { url } }) => {
    await page.goto(`${url}/sign-in`);
    await send(page, { text: { "Your e-mail address": "cora@acme.example" } }, "Mail me a link");
  }),
  door("door-no-address", async (page, { door: { url } }) => {
    await page.goto(`${url}/sign-in`);
    await send(page, { text: { "Your e-mail address": "cora" } }, "Mail me a link");
  }),
  door("door-choice", async (page, of) => {
    await viaProvider(page, of, "cora");
    await page.getByRole("button", { name: "Cora Lindqvist, viewer for globex" }).waitFor();
  }),
  door("door-unknown", async (page, of) => {
    await viaProvider(page, of, "mallory");
    await page.getByText("No profile names you").waitFor();
  }),
  {
    name: "too-much",
    who: null,
    async come(page, { signIn: { narrow } }) {
      for (let times = 0; times < 20; times += 1) await fetch(`${narrow.url}/sign-in`);
      await page.goto(`${narrow.url}/sign-in`);
    },
  },
  {
    name: "signed-out-form",
    who: { ...CORA, name: "sam" },
    async come(page, world) {
      await go(page, world, "/holds/new?on=source");
      await page.context().clearCookies();
      await send(page, { text: { Account: "Balance", Why: "odd" } }, "Hold it");
    },
  },
];
