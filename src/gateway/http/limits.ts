import type { IncomingMessage } from "node:http";
import type { Server, Socket } from "node:net";
import type { Context } from "hono";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { GatewayLimits } from "../../contracts/gateway-limits.ts";
import { GatewayError } from "../../actions/errors.ts";
import type { Proxies } from "./proxies.ts";

/** Rates hold over so long: a short rush is no abuse. */
const WINDOW_SECONDS = 10;
/** Nobody asks for a link again and again. */
const MAIL_WINDOW_SECONDS = 600;

/** How long node's server waits for a request. */
export function serverOptions({ headersTimeoutMs, requestTimeoutMs }: GatewayLimits) {
  return {
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: 5_000,
    connectionsCheckingInterval: Math.min(2_000, headersTimeoutMs),
  };
}

export const SMALL_BODY_BYTES = 1_048_576;
/** Documents of an onboarding are files, in base64. */
export const DOCUMENTS_BYTES = 15 * 1_048_576;
/** Webhooks whose signature isn't judged yet, of one address together. */
const UNPROVEN_BYTES = 16 * 1_048_576;

/**
 * Closes what is too much, of all or of one address, before anything of it is read. Trusted proxies
 * have the connections of all who come by them.
 */
export function limitConnections(server: Server, limits: GatewayLimits, proxies: Proxies): void {
  server.maxConnections = limits.connections;
  const open = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    if (proxies.has(address)) return;
    const count = (open.get(address) ?? 0) + 1;
    if (count > limits.connectionsPerAddress) {
      socket.destroy();
      return;
    }
    open.set(address, count);
    socket.once("close", () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
  });
}

/** Counts requests of the last seconds, in this process. */
export class Rates {
  readonly #token: RateLimiterMemory;
  readonly #address: RateLimiterMemory;
  readonly #webhook: RateLimiterMemory;
  /** Mail that anybody can have sent: to one address, and on one's asking. */
  readonly #mail = new RateLimiterMemory({ points: 5, duration: MAIL_WINDOW_SECONDS });
  readonly #mailAsked = new RateLimiterMemory({ points: 20, duration: MAIL_WINDOW_SECONDS });

  constructor(limits: GatewayLimits) {
    this.#token = limiter(limits.ratePerToken);
    this.#address = limiter(limits.ratePerAddress);
    this.#webhook = limiter(limits.webhookRate);
  }

  /** @throws GatewayError 429, as the others */
  token(tokenId: string): Promise<void> {
    return take(this.#token, tokenId, "this token");
  }

  address(address: string): Promise<void> {
    return take(this.#address, address, "this address");
  }

  webhook(business: string, address: string): Promise<void> {
    return take(this.#webhook, `${business} ${address}`, "this endpoint");
  }

  /** Links that sign somebody in, asked for from a network address. */
  async signInMail(mailAddress: string, from: string): Promise<void> {
    await take(this.#mailAsked, from, "this address");
    await take(this.#mail, mailAddress, "this mail address");
  }
}

function limiter(aSecond: number): RateLimiterMemory {
  return new RateLimiterMemory({ points: aSecond * WINDOW_SECONDS, duration: WINDOW_SECONDS });
}

async function take(limits: RateLimiterMemory, key: string, whose: string): Promise<void> {
  try {
    await limits.consume(key);
  } catch (error) {
    if (!(error instanceof RateLimiterRes)) throw error;
    throw tooMany(whose, Math.max(1, Math.ceil(error.msBeforeNext / 1000)));
  }
}

function tooMany(whose: string, seconds: number): GatewayError {
  const message = `Too much from ${whose} at once: try again in ${seconds} s.`;
  return new GatewayError(429, "too_many_requests", message, { retryAfterSeconds: seconds });
}

/**
 * Reads a body whose sender is known, once its length is.
 *
 * @throws GatewayError 411 without a length, 413 above the cap, before anything is read
 */
export async function readBody(c: Context, mostBytes: number): Promise<Uint8Array> {
  if (c.req.header("transfer-encoding") !== undefined) {
    throw new GatewayError(411, "length_required", "Send the body with a Content-Length.");
  }
  requireLength(Number(c.req.header("content-length") ?? "0"), mostBytes);
  return whole(c.req.arrayBuffer().then((bytes) => new Uint8Array(bytes)));
}

/**
 * A body whose sender goes away is no failure of ours: nobody fills the log with it.
 *
 * @throws GatewayError 400 if it breaks off
 */
async function whole<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new GatewayError(400, "incomplete_body", "The body broke off before its end.");
  }
}

/** Reads webhooks that nobody has proven yet, in chunks too, so many bytes of an address at once. */
export class UnprovenBodies {
  readonly #held = new Map<string, number>();

  /** @throws GatewayError 400 if it breaks off, 413 above 1 MB, 429 if the address keeps too much waiting */
  async read(c: Context, address: string): Promise<Uint8Array> {
    requireLength(Number(c.req.header("content-length") ?? "0"), SMALL_BODY_BYTES);
    const { incoming } = (c.env ?? {}) as { readonly incoming?: IncomingMessage };
    // Called without a socket.
    if (incoming === undefined) return new Uint8Array(await c.req.arrayBuffer());
    return whole(this.#readParts(incoming, address));
  }

  async #readParts(incoming: IncomingMessage, address: string): Promise<Uint8Array> {
    const parts: Buffer[] = [];
    let size = 0;
    try {
      for await (const part of incoming.iterator({ destroyOnReturn: false })) {
        const bytes = part as Buffer;
        size += bytes.length;
        this.#add(address, bytes.length);
        requireLength(size, SMALL_BODY_BYTES);
        if ((this.#held.get(address) ?? 0) > UNPROVEN_BYTES) throw tooMany("this address", 2);
        parts.push(bytes);
      }
    } finally {
      this.#add(address, -size);
    }
    return Buffer.concat(parts);
  }

  #add(address: string, bytes: number): void {
    const held = (this.#held.get(address) ?? 0) + bytes;
    if (held === 0) this.#held.delete(address);
    else this.#held.set(address, held);
  }
}

function requireLength(bytes: number, mostBytes: number): void {
  if (bytes <= mostBytes) return;
  const most = `${Math.round(mostBytes / 1_048_576)} MB`;
  throw new GatewayError(413, "too_large", `The body is larger than ${most}.`);
}
