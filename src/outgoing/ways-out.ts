import { Agent, type Dispatcher, Pool, ProxyAgent } from "undici";
import { proxyFor } from "./proxy.ts";

/** How long a proxy may take to open the way to a host. */
const TUNNEL_TIMEOUT_MS = 10_000;

/** What holds for the connections to one origin, whichever way they take. */
export type WayOptions = Omit<Pool.Options, "connect" | "factory">;

/**
 * Returns the connections to one origin: a plain pool, or one whose connections lead through the
 * proxy that the environment has for it. In both, a request's handler is asked right before its
 * first byte leaves.
 */
export function wayTo(origin: string, options: WayOptions): Dispatcher {
  const proxy = proxyFor(origin);
  return proxy === undefined ? new Pool(origin, options) : through(proxy.url, options);
}

/** The ways to any origin: each request leaves directly or through the environment's proxy. */
export class WaysOut {
  readonly #options: WayOptions;
  readonly #direct: Agent;
  readonly #proxied = new Map<string, ProxyAgent>();

  constructor(options: WayOptions = {}) {
    this.#options = options;
    this.#direct = new Agent(options);
  }

  to(address: string): Dispatcher {
    const proxy = proxyFor(address);
    if (proxy === undefined) return this.#direct;
    const known = this.#proxied.get(proxy.url.href) ?? through(proxy.url, this.#options);
    this.#proxied.set(proxy.url.href, known);
    return known;
  }

  /** Ends what is under way. */
  async destroy(): Promise<void> {
    const all = [this.#direct, ...this.#proxied.values()];
    await Promise.all(all.map((each) => each.destroy()));
  }
}

function through(proxy: URL, options: WayOptions): ProxyAgent {
  return new ProxyAgent({
    ...options,
    uri: proxy.href,
    connectTimeout: options.connectTimeout ?? TUNNEL_TIMEOUT_MS,
    factory: (origin, own) => new Pool(origin, Object.assign({}, options, own)),
    // A proxy that accepts the connection and then says nothing.
    clientFactory: (origin, own) => new Pool(origin, { ...own, headersTimeout: TUNNEL_TIMEOUT_MS }),
  });
}
