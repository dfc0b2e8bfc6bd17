import { z } from "zod";
import { businessNamed } from "../../actions/businesses.ts";
import { VendorBody } from "../../api/vendor.ts";
import { vendorOf } from "../../reports/review/vendor.ts";
import { thingOfId } from "../../actions/names/find-named.ts";
import type { Routes } from "../http/route.ts";
import { businessQuery, idField } from "./fields.ts";

/** Adds the operation that shows a vendor. */
export function addContactRoutes(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "getContact",
    method: "get",
    path: "/v1/contacts/{id}",
    tag: "payables",
    summary: "A vendor: its bank account and since when, bills, payments and holds",
    params: z.object({ id: idField.describe("Contact id, URL-encoded") }),
    query: businessQuery,
    responses: { 200: { description: "As the store and the service know it", schema: VendorBody } },
    handle: async ({ params, query, context }) => {
      const asked = { id: params.id, kind: "vendor", business: query.business } as const;
      const { business } = await thingOfId(context, asked);
      const profile = businessNamed(context, business, "");
      return { status: 200, json: await vendorOf(context, profile, params.id) };
    },
  });
}
