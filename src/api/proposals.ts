import { z } from "@hono/zod-openapi";
import { instant } from "./times.ts";

/** A playbook that waits for a second person. */
export const ProposalBody = z
  .object({
    name: z.string(),
    business: z.string(),
    author: z.string(),
    createdAt: instant,
    text: z.string(),
    hash: z.string().describe("SHA-256 of the text: what a confirmation names"),
    before: z.string().nullable().describe("The text in force; null if there is none"),
  })
  .openapi("Proposal");
