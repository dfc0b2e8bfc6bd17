import { z } from "@hono/zod-openapi";
import { instant } from "./times.ts";

/** What the status of every kind of workflow says, and its entry in the list. */
export const stand = {
  launchedAt: instant.describe("Instant at which it was launched or began"),
  endedAt: instant
    .nullable()
    .describe(
      "Instant at which its own work ended; null before. Bills of an ended run may still be paid again, or wait for a person",
    ),
  isFinal: z
    .boolean()
    .describe(
      "True if it has ended, pays nothing again, and waits for nobody. It turns false again only if something new happens to its payments, as when a bank takes one back weeks later",
    ),
  needsAction: z.boolean().describe("True while it waits for a person"),
};

/** The vendor of a bill. */
export const contactId = z.string().nullable().describe("The vendor; null if it isn't known");
