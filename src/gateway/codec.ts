import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Payload } from "@temporalio/common";
import type { Context } from "hono";
import { cors } from "hono/cors";
import { z } from "zod";
import { GatewayError } from "../actions/errors.ts";
import { reasonOf } from "../process/repeat.ts";
import { authenticate, type Caller } from "./http/auth.ts";
import type { GatewayContext } from "./http/context.ts";
import { readBody } from "./http/limits.ts";
import { requireAllBusinesses } from "./http/refusals.ts";
import { callerOfSession } from "./http/sessions.ts";

const PATH = "/codec/decode";
const BODY_BYTES = 8 * 1_048_576;
const MOST_PAYLOADS = 5_000;

/**
 * The JSON form of `temporal.api.common.v1.Payloads`: bytes in base64; empty fields may be absent.
 */
const Body = z.object({
  payloads: z
    .array(
      z.object({
        metadata: z.record(z.string(), z.base64()).nullish(),
        data: z.base64().nullish(),
      }),
    )
    .max(MOST_PAYLOADS)
    .default([]),
});

type JsonPayload = z.output<typeof Body>["payloads"][number];

/**
 * Adds the route that decrypts payloads for Temporal's UI, in the browser of a person who may read
 * every business: an encrypted payload doesn't say which business it belongs to. Only pages of the
 * listed origins can read the answer.
 */
export function addCodecRoute(app: OpenAPIHono, context: GatewayContext): void {
  const origin = [...context.temporalUiOrigins];
  app.use(PATH, cors({ origin, credentials: true, allowMethods: ["POST"], maxAge: 600 }));
  app.post(PATH, async (c) => {
    const caller = await callerOf(c, context);
    await requireAllBusinesses(context, caller.principal, {
      method: "post",
      path: PATH,
      message:
        "Histories are of all businesses: reading them needs a token that is for all of them.",
    });
    const { payloads } = await bodyOf(c);
    const decoded = await Promise.all(payloads.map((payload) => decode(context, payload)));
    const { name, tokenId } = caller.principal;
    const requestId = c.res.headers.get("x-request-id");
    context.log.info("histories decrypted", {
      name,
      tokenId,
      payloads: payloads.length,
      requestId,
    });
    return c.json({ payloads: decoded }, 200);
  });
}

/**
 * Authenticates by a token if the request carries one; otherwise by the session of a browser, whose
 * request must name a listed origin.
 */
async function callerOf(c: Context, context: GatewayContext): Promise<Caller> {
  if (c.req.header("authorization") !== undefined) return authenticate(c, context);
  const isListed = context.temporalUiOrigins.includes(c.req.header("origin") ?? "");
  const caller = isListed ? await callerOfSession(c, context) : undefined;
  return caller ?? authenticate(c, context);
}

async function bodyOf(c: Context): Promise<z.output<typeof Body>> {
  const bytes = await readBody(c, BODY_BYTES);
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new GatewayError("validation_error", "The body is not JSON.");
  }
  const parsed = Body.safeParse(json);
  if (parsed.success) return parsed.data;
  const message = `The body must be { payloads: […] }, bytes in base64: ${z.prettifyError(parsed.error)}`;
  throw new GatewayError("validation_error", message);
}

/** Returns a payload that can't be decrypted as it came, so that the rest can be read. */
async function decode(context: GatewayContext, payload: JsonPayload): Promise<JsonPayload> {
  try {
    const [plain] = await context.codec.decode([fromJson(payload)]);
    return plain === undefined ? payload : toJson(plain);
  } catch (error) {
    context.log.warn("a payload could not be decrypted", { reason: reasonOf(error) });
    return payload;
  }
}

function fromJson({ metadata, data }: JsonPayload): Payload {
  const entries = Object.entries(metadata ?? {});
  return {
    metadata: Object.fromEntries(
      entries.map(([key, value]) => [key, Buffer.from(value, "base64")]),
    ),
    data: Buffer.from(data ?? "", "base64"),
  };
}

function toJson({ metadata, data }: Payload): JsonPayload {
  const entries = Object.entries(metadata ?? {});
  return {
    metadata: Object.fromEntries(entries.map(([key, value]) => [key, base64(value)])),
    data: base64(data ?? new Uint8Array()),
  };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
