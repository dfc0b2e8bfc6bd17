import { createHash } from "node:crypto";
import { z } from "zod";
import { invalid } from "../http/api-error.ts";
import { fileField } from "../http/multipart.ts";
import { defineOperation, type ServiceOperation } from "../http/operation.ts";
import { listShape } from "../http/shapes.ts";
import { businessesOfOrganization, callersBusiness } from "../resources/businesses.ts";
import { fileTypeOf } from "./file-type.ts";
import { ownBusiness } from "./own-business.ts";
import { businessDetailShape, listedBusinessShape } from "./shapes.ts";
import { changeProfile } from "./tables.ts";
import { businessDetailJson, businessJson } from "./views.ts";

/** The largest logo: 1 MB. */
const largestLogoBytes = 1_000_000;
const logoTypes: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

const reading = ["businesses:read", "businesses:write"];
const writing = ["businesses:write"];

const listBusinesses = defineOperation({
  name: "listBusinesses",
  summary: "Lists all businesses of the token's organization.",
  method: "GET",
  path: "/api/businesses",
  scopes: reading,
  idempotency: "none",
  answer: { status: 200, body: listShape(listedBusinessShape) },
  handler: ({ ctx, caller }) => {
    const own = callersBusiness(ctx.db, caller.businessId);
    const businesses = businessesOfOrganization(ctx.db, own.organization_id);
    return {
      status: 200,
      body: { items: businesses.map((business) => businessJson(ctx.db, business)) },
    };
  },
});

const getBusiness = defineOperation({
  name: "getBusiness",
  summary: "Shows one business in full.",
  method: "GET",
  path: "/api/businesses/{businessId}",
  scopes: reading,
  idempotency: "none",
  errors: ["not_found"],
  answer: { status: 200, body: businessDetailShape },
  handler: ({ ctx, caller, params }) => ({
    status: 200,
    body: businessDetailJson(ctx.db, ownBusiness(ctx, caller, params)),
  }),
});

const setAlias = defineOperation({
  name: "setBusinessAlias",
  summary: "Sets the name that a business is displayed by.",
  method: "PATCH",
  path: "/api/businesses/{businessId}/alias",
  scopes: writing,
  idempotency: "refused",
  errors: ["validation_error", "not_found"],
  answer: { status: 200, body: businessDetailShape },
  body: z.object({ alias: z.string().trim().min(1).max(100) }),
  handler: ({ ctx, caller, params, body }) => {
    const business = ownBusiness(ctx, caller, params);
    changeProfile(ctx.db, business.id, { alias: body.alias, updated_at: ctx.clock.bankNow() });
    return { status: 200, body: businessDetailJson(ctx.db, business) };
  },
});

const uploadLogo = defineOperation({
  name: "uploadBusinessLogo",
  summary: "Uploads a business's logo in place of the one it has.",
  description: "A PNG, JPEG, GIF or WebP of up to 1 MB, by its content.",
  method: "POST",
  path: "/api/businesses/{businessId}/logo",
  scopes: writing,
  idempotency: "refused",
  bodyKind: "multipart",
  errors: ["validation_error", "not_found"],
  answer: { status: 200, body: businessDetailShape },
  body: z.object({ file: fileField(largestLogoBytes) }),
  handler: ({ ctx, caller, params, body: { file } }) => {
    const business = ownBusiness(ctx, caller, params);
    const type = fileTypeOf(file);
    if (type === undefined || !logoTypes.includes(type)) {
      throw invalid("file", "file must be a PNG, JPEG, GIF or WebP image");
    }
    const nowMs = ctx.clock.bankNow();
    changeProfile(ctx.db, business.id, {
      logo: file,
      logo_type: type,
      logo_sha256: createHash("sha256").update(file).digest("hex"),
      logo_at: nowMs,
      updated_at: nowMs,
    });
    return { status: 200, body: businessDetailJson(ctx.db, business) };
  },
});

const deleteLogo = defineOperation({
  name: "deleteBusinessLogo",
  summary: "Removes a business's logo; it is no error that there is none.",
  method: "DELETE",
  path: "/api/businesses/{businessId}/logo",
  scopes: writing,
  idempotency: "refused",
  errors: ["not_found"],
  answer: { status: 204 },
  handler: ({ ctx, caller, params }) => {
    const business = ownBusiness(ctx, caller, params);
    changeProfile(ctx.db, business.id, {
      logo: null,
      logo_type: null,
      logo_sha256: null,
      logo_at: null,
      updated_at: ctx.clock.bankNow(),
    });
    return { status: 204 };
  },
});

/** The operations of businesses and their profiles (API specification, section 4). */
export const profileOperations: readonly ServiceOperation[] = [
  listBusinesses,
  getBusiness,
  setAlias,
  uploadLogo,
  deleteLogo,
];
