import { z } from "@hono/zod-openapi";
import { isDate, SENSIBLE_YEARS } from "../../domain/clock/dates.ts";
import { OPERATE } from "../../domain/approvals/token.ts";

/** Roles that may do what a role of this name may do. */
export const MAY = {
  launch: ["launcher", "admin"],
  operate: OPERATE,
  administer: ["admin"],
} as const;

export const name = z
  .string()
  .regex(/^[\w.-]{1,100}$/, "must be a name of letters, digits, dots, dashes and underscores");

export const date = z.iso
  .date({ error: "must be a date, YYYY-MM-DD", abort: true })
  .refine(isDate, `must be a date ${SENSIBLE_YEARS}`);

/** A person's words, stored and shown as they are. */
export const words = z.string().trim().min(1, "must not be empty").max(1_000);

export const idField = z.string().min(1, "must not be empty").max(300);

export const runParams = z.object({ id: idField.describe("Run id, URL-encoded") });

export const businessQuery = z.object({
  business: name.optional().describe("Needed only if several businesses are configured"),
});

/** Reads a yes or no from a query. */
export const yesNo = z
  .enum(["true", "false"], "must be true or false")
  .transform((text) => text === "true")
  .openapi({ type: "boolean" });

/** No list has more pages than this one's number: any row before it can be counted. */
const PAGES_MOST = 1_000_000;

/** The page of a list, from 1. */
export const pageNumber = z.coerce.number().int().min(1).max(PAGES_MOST).default(1);

/** Returns the schema of a page's size; the usual one is the default. */
export function pageSize(most: number, usual = most) {
  return z.coerce
    .number()
    .int()
    .min(1)
    .max(most)
    .default(usual)
    .describe("Items in the answer; `nextPage` says if there are more");
}
