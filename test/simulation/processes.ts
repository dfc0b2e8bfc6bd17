import type { Company } from "./company/company.ts";
import { type Ask, PEOPLE, RITA } from "./company/roster.ts";
import { type EngineParts, type Gateway, prepare, startGateway, startWorker } from "./hooks.ts";
import { Violation } from "./rules/violation.ts";
import type { TemporalServer } from "./temporal/server.ts";
import type { Stream } from "./world/random.ts";
import type { ProcessNode, World } from "./world/world.ts";

/** The parts of a company that its processes depend on. */
type Staffed = Pick<
  Company,
  "gateways" | "workers" | "janitorEveryMs" | "profile" | "traits" | "listsDeliveries"
> & {
  readonly paying: Pick<Company["paying"], "playbooks">;
};

/** The engine's workers and gateways: starts, kills and restarts them, and sends them requests. */
export class Processes {
  readonly #world: World;
  readonly #company: Staffed;
  readonly #temporal: TemporalServer;
  readonly #storePath: string;
  readonly #network: Stream;
  readonly #nodes = new Set<ProcessNode>();
  readonly #gateways = new Map<ProcessNode, Gateway>();
  #tokens: ReadonlyMap<string, string> = new Map();
  /** True while the store's machine is down, so that no process starts. */
  #isDown = false;

  constructor(parts: {
    readonly world: World;
    readonly company: Staffed;
    readonly temporal: TemporalServer;
    readonly storePath: string;
  }) {
    this.#world = parts.world;
    this.#company = parts.company;
    this.#temporal = parts.temporal;
    this.#storePath = parts.storePath;
    this.#network = parts.world.stream("network");
  }

  async begin(): Promise<void> {
    const { gateways, workers } = this.#company;
    this.#isDown = false;
    for (const { id, skewMs } of gateways) await this.#start(id, "gateway", skewMs);
    for (const { id, skewMs } of workers) await this.#start(id, "worker", skewMs);
  }

  restart(node: ProcessNode): void {
    this.#nodes.delete(node);
    this.#gateways.delete(node);
    if (this.#isDown || (node.kind !== "worker" && node.kind !== "gateway")) return;
    this.#world.tell(node.id, "starts again");
    this.#doing(this.#start(node.id, node.kind, node.skewMs));
  }

  /** True if all of them run, and none is frozen. */
  get areUp(): boolean {
    const { gateways, workers } = this.#company;
    const { nowMs } = this.#world;
    const up = [...this.#nodes].filter((node) => node.alive && node.frozenUntilMs <= nowMs);
    return !this.#isDown && up.length === gateways.length + workers.length;
  }

  /** Kills all of them at once; they start again later. */
  killAll(why: string): void {
    this.#isDown = true;
    for (const node of this.#nodes) this.#world.kill(node, why);
    this.#nodes.clear();
    this.#gateways.clear();
  }

  readonly ask: Ask = async (person, method, path, body) => {
    const response = await this.#request(path, {
      method,
      headers: {
        authorization: `Bearer ${this.#tokens.get(person) ?? ""}`,
        "content-type": "application/json",
      },
      ...(body === undefined || method === "DELETE" ? {} : { body: JSON.stringify(body) }),
    });
    if (response === undefined) return undefined;
    const json: unknown = await response.json();
    if (method !== "GET") {
      const said = JSON.stringify(body ?? {});
      this.#world.tell(person, `${method} ${path} ${said}: ${response.status} ${codeOf(json)}`);
    }
    return { status: response.status, json };
  };

  async webhook(
    body: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<number | undefined> {
    const path = `/webhooks/${this.#company.profile.name}`;
    return (await this.#request(path, { method: "POST", headers, body }))?.status;
  }

  #parts(): EngineParts {
    return {
      world: this.#world,
      temporal: this.#temporal,
      storePath: this.#storePath,
      profile: this.#company.profile,
      janitorEveryMs: this.#company.janitorEveryMs,
      listsDeliveries: this.#company.listsDeliveries,
      log: (node, line) => this.#world.tell(node.id, `logs: ${line}`),
    };
  }

  async #start(id: string, kind: "worker" | "gateway", skewMs: number): Promise<void> {
    const node = this.#world.makeNode(id, kind, skewMs);
    this.#nodes.add(node);
    if (kind === "worker") {
      await this.#world.in(node, () => startWorker(this.#parts(), node));
      return;
    }
    const gateway = await this.#world.in(node, () => startGateway(this.#parts(), node));
    if (this.#tokens.size === 0) {
      const { paying, traits } = this.#company;
      const people = traits.has("bounces") ? [...PEOPLE, RITA] : PEOPLE;
      const prepared = (): ReturnType<typeof prepare> =>
        prepare(gateway.store, people, paying.playbooks);
      this.#tokens = await this.#world.in(node, prepared);
    }
    this.#gateways.set(node, gateway);
  }

  #doing(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.#world.failure ??= error instanceof Error ? error : new Error(String(error));
    });
  }

  /** Sends a request to any live gateway; undefined if none answers in time. */
  async #request(path: string, init: RequestInit): Promise<Response | undefined> {
    const world = this.#world;
    const alive = [...this.#gateways].filter(([node]) => node.alive);
    if (alive.length === 0) return undefined;
    const [node, { app }] = this.#network.pick(alive);
    const answered = world.in(node, async () => {
      const response = await app.request(`http://payrun.test${path}`, init);
      // No caller can receive the answer of a dead process.
      if (!node.alive) return undefined;
      if (response.status !== 500) return response;
      // Expected failures have other statuses: this is a fault of the engine.
      throw new Violation("no-internal-errors", `${path}: ${await response.text()}`);
    });
    return Promise.race([
      answered,
      new Promise<undefined>((resolve) => {
        world.after(30_000, "nobody answers", () => resolve(undefined));
      }),
    ]);
  }
}

function codeOf(json: unknown): string {
  const { error } = (json ?? {}) as { readonly error?: unknown };
  return error === undefined ? "" : JSON.stringify(error);
}
