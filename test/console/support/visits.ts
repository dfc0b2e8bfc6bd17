import type { TestGateway } from "../../gateway/support/gateway.ts";
import { Browser } from "../../gateway/sign-in/browser.ts";

/** A page as it was received. */
export interface Visited {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  /** The text that a person reads, on one line. */
  readonly text: string;
}

type Fields = Readonly<Record<string, string | readonly string[]>>;

/** A person at the console without scripts: requests pages and sends their forms. */
export class Visits {
  readonly browser: Browser;

  constructor(browser: Browser) {
    this.browser = browser;
  }

  async get(path: string): Promise<Visited> {
    return this.#read(await this.browser.get(path));
  }

  /** Sends these fields, and no others. */
  async post(path: string, fields: Fields): Promise<Visited> {
    const pairs = Object.entries(fields).flatMap(([name, value]) =>
      [value].flat().map((each): [string, string] => [name, each]),
    );
    return this.#read(await this.browser.post(path, pairs));
  }

  /** Sends the form that a page has for this address, with these fields filled in. */
  send(page: Visited, action: string, filled: Fields = {}): Promise<Visited> {
    return this.post(action, { ...hiddenIn(formFor(page, action)), ...filled });
  }

  async #read(response: Response): Promise<Visited> {
    const location = response.headers.get("location");
    if (response.status === 303 && location !== null) return this.get(location);
    const html = await response.text();
    return { status: response.status, headers: response.headers, html, text: textOf(html) };
  }
}

/** Signs a person in by a link, as `payrun login` makes one. */
export async function signedIn(
  gateway: TestGateway,
  name: string,
  roles: readonly string[],
  businesses?: readonly string[],
): Promise<Visits> {
  const token = await gateway.token(name, roles, businesses);
  const link = await gateway.call("POST", "/v1/sign-in-links", token);
  const browser = new Browser(gateway.url);
  await browser.post("/sign-in", { code: String(link.json["code"]), to: "/" });
  return new Visits(browser);
}

function formFor({ html, text }: Visited, action: string): string {
  const [, form] = html.split(`<form method="post" action="${action.replaceAll("&", "&amp;")}">`);
  if (form === undefined) throw new Error(`the page has no form for ${action}: ${text}`);
  return form.split("</form>")[0] ?? "";
}

function hiddenIn(form: string): Record<string, string[]> {
  const fields: Record<string, string[]> = {};
  const inputs = form.matchAll(/<input\s+type="hidden"\s+name="([^"]*)"\s+value="([^"]*)"/g);
  for (const [, name = "", value = ""] of inputs) (fields[name] ??= []).push(unescaped(value));
  return fields;
}

function textOf(html: string): string {
  const body = html.replace(/<head>[\s\S]*<\/head>/, "");
  return unescaped(body.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ")).trim();
}

function unescaped(text: string): string {
  return text
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
