import { z } from "zod";
import { openStore } from "../src/store/open.ts";
import { confirmedToken } from "../test/support/confirmed-token.ts";

const PEOPLE = {
  launcher: ["launcher", "operator"],
  controller: ["controller"],
  admin: ["admin"],
} as const;
type Person = keyof typeof PEOPLE;

/** The gateway, as the people of a benchmark call it. */
export class Gateway {
  readonly #url: string;
  readonly #tokens = new Map<Person, string>();

  constructor(url: string) {
    this.#url = url;
  }

  /** Gives each person a token; creates the store if there is none. */
  async invite(databaseUrl: string): Promise<void> {
    const store = await openStore(databaseUrl);
    for (const [name, roles] of Object.entries(PEOPLE)) {
      const made = { name, roles: [...roles], createdBy: "bench", nowMs: Date.now() - 60_000 };
      this.#tokens.set(name as Person, (await confirmedToken(store, made)).token);
    }
    await store.close();
  }

  async launch(playbook: string, period?: string): Promise<string> {
    const said = await this.call("launcher", "POST", "/v1/runs", { playbook, period });
    return z.object({ id: z.string() }).parse(said).id;
  }

  async call(person: Person, method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#tokens.get(person)}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }
}
