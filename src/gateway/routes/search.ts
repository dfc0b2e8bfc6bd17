import { z } from "zod";
import { beginningSo, COMPLETED_KINDS } from "../../actions/names/beginning.ts";
import { findNamed } from "../../actions/names/find-named.ts";
import { NamesBody, SearchBody } from "../../api/names.ts";
import { NAMED_KINDS } from "../../domain/names.ts";
import type { Routes } from "../http/route.ts";
import { idField, name, yesNo } from "./fields.ts";

/**
 * Adds the search for what a number, a name or an id stands for, and for names that begin with it.
 */
export function addSearchRoutes(routes: Routes): void {
  addNames(routes);
  routes.add({
    whose: "profiles",
    operationId: "findNamed",
    method: "get",
    path: "/v1/search",
    tag: "names",
    summary: "What is meant by a number, a vendor's name, a run's short name, an amount or an id",
    description:
      "If `kind` is given, the service's lists are read too, so that `exact` has all that have this name; otherwise only what is at hand is searched.",
    query: z.object({
      q: idField.describe("What a person typed"),
      kind: z.enum(NAMED_KINDS, `must be one of ${NAMED_KINDS.join(", ")}`).optional(),
      business: name.optional(),
      run: idField.optional().describe("Only bills of this run"),
      overToo: yesNo.optional().describe("true: a vendor's ended bills too, besides the open ones"),
    }),
    responses: { 200: { description: "What it may be", schema: SearchBody } },
    handle: async ({ query, context }) => {
      const { q: text, kind, business, run: runId, overToo } = query;
      const found = await findNamed(context, { text, kind, business, runId, overToo });
      return { status: 200, json: found };
    },
  });
}

function addNames(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "listNames",
    method: "get",
    path: "/v1/names",
    tag: "names",
    summary: "Numbers, names and short names that begin with a text",
    description: "From what the store knows, for completion in a shell.",
    query: z.object({
      kind: z.enum(COMPLETED_KINDS, `must be one of ${COMPLETED_KINDS.join(", ")}`),
      begins: z.string().max(300).default("").describe("What has been typed so far"),
      business: name.optional(),
    }),
    responses: { 200: { description: "The names", schema: NamesBody } },
    handle: async ({ query, context }) => {
      return { status: 200, json: { names: await beginningSo(context, query) } };
    },
  });
}
