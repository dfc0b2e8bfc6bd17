import { z } from "@hono/zod-openapi";
import { moment } from "./moment.ts";
import { instant } from "./times.ts";

export const SignInLinkBody = z
  .object({
    url: z.string().describe("Opens the page that signs in, with a button; shown this once"),
    code: z.string().describe("The part of it after the #"),
    name: z.string().describe("Who will be signed in"),
    expiresAt: instant,
    zone: moment.zone,
  })
  .openapi("SignInLink");

export const SessionBody = z
  .object({
    id: z.string(),
    name: z.string().describe("Who is signed in"),
    way: z.enum(["link", "mail", "provider"]),
    tokenId: z
      .string()
      .nullable()
      .describe("The token it stands for; null for a sign-in at a provider"),
    issuer: z.string().nullable(),
    subject: z.string().nullable(),
    businesses: z.array(z.string()).nullable().describe("Null for all that its token is for"),
    state: z.enum(["valid", "ended", "expired"]),
    signedInAt: instant,
    expiresAt: instant,
    endedAt: instant.nullable(),
    endedBy: z.string().nullable(),
    lastUsedAt: instant.nullable(),
  })
  .openapi("Session");

export const SessionListBody = z.object({ items: z.array(SessionBody), zone: moment.zone });
