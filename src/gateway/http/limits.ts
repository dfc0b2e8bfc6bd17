import type { Server, Socket } from "node:net";
import type { Context } from "hono";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { GatewayLimits } from "../../contracts/gateway-limits.ts";
import { GatewayError } from "../../actions/errors.ts";
import type { Proxies } from "./proxies.ts";
import { incomingOf } from "./request.ts";

/** The period over which rates are counted: a short burst is no abuse. */
const WINDOW_SECONDS = 10;
/** The period over which sign-in mails are counted: a person needs few. */
const MAIL_WINDOW_SECONDS = 600;

/** Returns the timeouts of node's server. */
export function serverOptions({ headersTimeoutMs, requestTimeoutMs }: GatewayLimits) {
  return {
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    // Longer than proxies and clients keep an idle connection, mostly a minute: otherwise it could
    // close under a request that they send over it.
    keepAliveTimeout: 70_000,
    connectionsCheckingInterval: Math.min(2_000, headersTimeoutMs),
  };
}

export const SMALL_BODY_BYTES = 1_048_576;
/** Documents of an onboarding are files, sent in base64. */
export const DOCUMENTS_BYTES = 15 * 1_048_576;
/** Most bytes of webhooks with unverified signatures that one address may have in memory. */
const UNPROVEN_BYTES = 16 * 1_048_576;

/**
 * Closes connections above the limits, in total and per address, before reading anything. Trusted
 * proxies are exempt from the limit per address: they carry the connections of all their clients.
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

/** Counts the requests of the last seconds, in this process. */
export class Rates {
  readonly #token: RateLimiterMemory;
  readonly #address: RateLimiterMemory;
  readonly #webhook: RateLimiterMemory;
  /**
   * Limits for mail that anyone can trigger: per recipient, and per network address that requests
   * it.
   */
  readonly #mail = new RateLimiterMemory({ points: 5, duration: MAIL_WINDOW_SECONDS });
  readonly #mailAsked = new RateLimiterMemory({ points: 20, duration: MAIL_WINDOW_SECONDS });

  constructor(limits: GatewayLimits) {
    this.#token = limiter(limits.ratePerToken);
    this.#address = limiter(limits.ratePerAddress);
    this.#webhook = limiter(limits.webhookRate);
  }

  /** @throws GatewayError 429, as all methods of this class do */
  token(tokenId: string): Promise<void> {
    return take(this.#token, tokenId, "this token");
  }

  address(address: string): Promise<void> {
    return take(this.#address, address, "this address");
  }

  webhook(business: string, address: string): Promise<void> {
    return take(this.#webhook, `${business} ${address}`, "this endpoint");
  }

  /** Counts a request for a mail with a sign-in link, by network address and by recipient. */
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
  return new GatewayError("too_many_requests", message, { retryAfterSeconds: seconds });
}

/**
 * Reads the body of a known sender, with a length or in chunks, up to the cap.
 *
 * @throws GatewayError 413 above the cap, at once if the length says so; 400 if the body breaks off
 */
export async function readBody(
  c: Context,
  mostBytes: number,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<Uint8Array> {
  requireLength(Number(c.req.header("content-length") ?? "0"), mostBytes);
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const bytes of partsOf(c)) {
      size += bytes.length;
      onBytes(bytes.length);
      requireLength(size, mostBytes);
      parts.push(bytes);
    }
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    // A sender that disconnects is not an error of the gateway: clients can't fill the error log.
    throw new GatewayError("incomplete_body", "The body broke off before its end.");
  }
  return Buffer.concat(parts);
}

async function* partsOf(c: Context): AsyncGenerator<Buffer> {
  const incoming = incomingOf(c);
  if (incoming === undefined) yield Buffer.from(await c.req.arrayBuffer());
  else yield* incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
}

/** Reads webhooks whose signature isn't verified yet, up to a number of bytes per address at once. */
export class UnprovenBodies {
  readonly #held = new Map<string, number>();

  /**
   * @throws GatewayError 400 if the body breaks off, 413 above 1 MB, 429 if the address has too
   * many bytes in memory
   */
  async read(c: Context, address: string): Promise<Uint8Array> {
    let size = 0;
    try {
      return await readBody(c, SMALL_BODY_BYTES, (bytes) => {
        size += bytes;
        this.#add(address, bytes);
        if ((this.#held.get(address) ?? 0) > UNPROVEN_BYTES) throw tooMany("this address", 2);
      });
    } finally {
      this.#add(address, -size);
    }
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
  throw new GatewayError("too_large", `The body is larger than ${most}.`);
}
