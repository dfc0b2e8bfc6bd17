import { z } from "@hono/zod-openapi";
import { NAMED_KINDS } from "../domain/names.ts";
import { parts } from "./schemas.ts";
import type { Shown } from "./shown.ts";

const named = z
  .object({
    kind: z.enum(NAMED_KINDS),
    id: z.string(),
    business: z.string(),
    number: z
      .string()
      .nullable()
      .describe("A bill's number, an account's last four, a run's short name"),
    name: z.string().nullable().describe("The vendor's, the account's, or what a hold is on"),
    amountCents: z.int().nullable(),
    parts,
    state: z.string().nullable(),
    payableId: z.string().nullable().optional().describe("The bill of a payment"),
  })
  .openapi("Named");

export const SearchBody = z.object({
  exact: z.array(named).describe("Called exactly that; one if it is clear what is meant"),
  near: z.array(named).describe("Called something similar, or with the text in it"),
  unread: z
    .array(z.object({ business: z.string(), message: z.string() }))
    .describe("Businesses whose service could not be asked: it may know more"),
});

export const NamesBody = z.object({
  names: z.array(z.string()).describe("At most 50: numbers, names and short names"),
});

export type NamedView = Shown<typeof named>;
export type Search = Shown<typeof SearchBody>;
