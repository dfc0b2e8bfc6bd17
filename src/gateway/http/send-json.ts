import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import fresh from "fresh";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import Negotiator from "negotiator";
import type { Principal } from "../../actions/principal.ts";

/** A shorter answer gains too little from compression. */
const COMPRESSED_FROM_BYTES = 8 * 1024;

/** How thoroughly Brotli searches: about as fast as gzip, and smaller. */
const BROTLI_QUALITY = 4;

const [packWithBrotli, packWithGzip] = [promisify(brotliCompress), promisify(gzip)];

/** The encodings of compressed answers, each as it is made, off the event loop. */
const PACKED: Readonly<Record<string, (text: string) => Promise<Uint8Array<ArrayBuffer>>>> = {
  br: (text) =>
    packWithBrotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (text) => packWithGzip(text),
};

/** The business clock in an answer: it alone makes no answer a new one. */
const CLOCK = /"now":"[^"]*"/g;

interface JsonAnswer {
  readonly status: ContentfulStatusCode;
  readonly text: string;
  /** Who reads it, if it is the answer of a read: then a repeat may be answered with 304. */
  readonly reader?: Principal | undefined;
}

/**
 * Answers with JSON, compressed if it is long and the client takes that. A client that has the same
 * already, as it says with `If-None-Match`, gets 304 without a body.
 *
 * Only for answers without secrets that are sent to holders of tokens: where others make a browser
 * ask, what compression does to the length could tell them a secret beside their own words.
 */
export async function sendJson(
  c: Context,
  { status, text, reader }: JsonAnswer,
): Promise<Response> {
  const headers: Record<string, string> = { vary: "Accept-Encoding" };
  if (reader !== undefined) {
    // No-cache: a cache may keep it, but asks each time, so that an ended token sees nothing.
    headers["cache-control"] = "private, no-cache";
    headers["vary"] = "Authorization, Accept-Encoding";
    headers["etag"] = tagOf(text, reader);
    if (fresh(c.req.header(), headers)) return c.body(null, 304, headers);
  }
  headers["content-type"] = "application/json";
  const encoding = encodingOf(c, text);
  const pack = PACKED[encoding ?? ""];
  const body = pack === undefined ? new TextEncoder().encode(text) : await pack(text);
  if (pack !== undefined && encoding !== undefined) headers["content-encoding"] = encoding;
  return c.body(body, status, { ...headers, "content-length": String(body.byteLength) });
}

/**
 * Returns a weak tag, since it names what an answer says, not the bytes of its encoding. Principals
 * have tags of their own, so that none can find out by one what another is shown.
 */
function tagOf(text: string, { tokenId, name, roles, businesses }: Principal): string {
  const hash = createHash("sha256").update(JSON.stringify([tokenId, name, roles, businesses]));
  return `W/"${hash.update(text.replaceAll(CLOCK, "")).digest("base64url")}"`;
}

function encodingOf(c: Context, text: string): string | undefined {
  if (text.length < COMPRESSED_FROM_BYTES && Buffer.byteLength(text) < COMPRESSED_FROM_BYTES) {
    return undefined;
  }
  return new Negotiator({ headers: c.req.header() }).encoding([...Object.keys(PACKED), "identity"]);
}
