import { z } from "zod";
import { findNamed } from "../../actions/names/find-named.ts";
import { SearchBody } from "../../api/names.ts";
import { NAMED_KINDS } from "../../domain/names.ts";
import type { Routes } from "../http/route.ts";
import { id, name, yesNo } from "./fields.ts";

/** What a number, a name or an id stands for. */
export function addSearchRoutes(routes: Routes): void {
  routes.add({
    whose: "profiles",
    method: "get",
    path: "/v1/search",
    tag: "names",
    summary: "What is meant by a number, a vendor's name, a run's short name, an amount or an id",
    description:
      "Of one `kind` the service's lists are read too, so that `exact` is all that is called so; without one only what is at hand is searched.",
    query: z.object({
      q: id.describe("What somebody has typed"),
      kind: z.enum(NAMED_KINDS, `must be one of ${NAMED_KINDS.join(", ")}`).optional(),
      business: name.optional(),
      run: id.optional().describe("Only bills of this run"),
      overToo: yesNo
        .optional()
        .describe("true: of a vendor's bills also those that are over, beside open ones"),
    }),
    responses: { 200: { description: "What it may be", schema: SearchBody } },
    handle: async ({ query, context }) => {
      const { q: text, kind, business, run: runId, overToo } = query;
      const found = await findNamed(context, { text, kind, business, runId, overToo });
      return { status: 200, json: found };
    },
  });
}
