/** As much of a browser as signing in needs: cookies, forms with their origin, and redirects. */
export class Browser {
  readonly #origin: string;
  readonly #cookies = new Map<string, string>();
  /** The received `set-cookie` lines, unchanged. */
  readonly set: string[] = [];

  /** @param origin of the gateway's pages */
  constructor(origin: string) {
    this.#origin = origin;
  }

  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  get(path: string): Promise<Response> {
    return this.#send(path, { headers: { cookie: this.cookie } });
  }

  post(
    path: string,
    fields: Readonly<Record<string, string>> | [string, string][],
    origin: string | undefined = this.#origin,
  ): Promise<Response> {
    const headers = {
      cookie: this.cookie,
      "content-type": "application/x-www-form-urlencoded",
      ...(origin === "" ? {} : { origin }),
    };
    const body = new URLSearchParams(fields).toString();
    return this.#send(path, { method: "POST", headers, body });
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const address = new URL(path, this.#origin);
    const answer = await fetch(address, { ...init, redirect: "manual" });
    for (const line of answer.headers.getSetCookie()) {
      this.set.push(line);
      const [name = "", value = ""] = (line.split(";")[0] ?? "").split("=");
      if (/max-age=0/i.test(line)) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return answer;
  }
}

/** Returns the value of a page's hidden form field. */
export function fieldOf(page: string, name: string): string {
  const found = new RegExp(`name="${name}"\\s+value="([^"]*)"`).exec(page)?.[1];
  if (found === undefined) throw new Error(`no field ${name} in ${page}`);
  return found;
}
