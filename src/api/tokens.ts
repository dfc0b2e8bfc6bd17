import { z } from "@hono/zod-openapi";
import { moment } from "./moment.ts";
import { instant } from "./times.ts";

export const TokenBody = z
  .object({
    id: z.string(),
    name: z.string().describe("Whom it stands for"),
    roles: z.array(z.string()),
    businesses: z
      .array(z.string())
      .nullable()
      .describe("The businesses that it acts for; null for all"),
    state: z.enum(["valid", "unconfirmed", "expired", "revoked"]),
    createdBy: z.string(),
    createdAt: instant,
    confirmedBy: z.string().nullable(),
    confirmedAt: instant.nullable(),
    expiresAt: instant,
    revokedAt: instant.nullable(),
    lastUsedAt: instant.nullable(),
  })
  .openapi("Token");

export const MadeTokenBody = TokenBody.extend({ token: z.string().describe("Shown this once") });

export const TokenListBody = z.object({ items: z.array(TokenBody), zone: moment.zone });
