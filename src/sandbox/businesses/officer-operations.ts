import { z } from "zod";
import type { SandboxContext } from "../context.ts";
import { ApiError, invalid } from "../http/api-error.ts";
import { defineOperation, type ServiceOperation } from "../http/operation.ts";
import { listShape } from "../http/shapes.ts";
import { plainDate } from "../http/validation.ts";
import { newId } from "../ids.ts";
import { newYorkDay } from "../payments/banking-days.ts";
import type { BusinessRow } from "../resources/businesses.ts";
import { actedAt, givenName, refuseFuture } from "./fields.ts";
import { ownBusiness } from "./own-business.ts";
import { isSameNumber, keepNumber } from "./personal-number.ts";
import { certificationShape, officerShape } from "./shapes.ts";
import { requireTurn } from "./steps.ts";
import {
  changeVerification,
  insertOfficer,
  type OfficerRow,
  officerRows,
  verificationRow,
} from "./tables.ts";
import { officerJson } from "./views.ts";

const firstBirthDate = "1900-01-01";

const name = z.string().trim().min(1).max(100);
const country = z
  .string()
  .regex(/^[A-Z]{2,3}$/, { error: "must be an ISO 3166-1 country code, such as US" });

const address = z
  .object({
    street: z.string().trim().min(1).max(200),
    city: z.string().trim().min(1).max(100),
    state: z.string().trim().min(1).max(100),
    zip: z.string().trim().min(1).max(20),
    country,
  })
  .check((check) => {
    const { state, zip, country: code } = check.value;
    if (code !== "US" && code !== "USA") return;
    if (!/^[A-Z]{2}$/.test(state)) {
      check.issues.push(wrong(state, "state", "must be a two-letter US state code"));
    }
    if (!/^\d{5}(-\d{4})?$/.test(zip)) {
      check.issues.push(wrong(zip, "zip", "must be a US zip code"));
    }
  });

function wrong(input: string, field: string, message: string): z.core.$ZodRawIssue {
  return { code: "custom", input, path: [field], message };
}

const newOfficer = z.object({
  firstName: name,
  lastName: name,
  title: name,
  dateOfBirth: plainDate,
  ssn: z
    .string()
    .regex(/^(\d{9}|\d{3}-\d{2}-\d{4})$/, { error: "must be nine digits, such as 123-45-6789" }),
  address,
});

const listOfficers = defineOperation({
  name: "listOfficers",
  summary: "Lists the officers and owners.",
  method: "GET",
  path: "/api/businesses/{businessId}/officers",
  scopes: ["businesses:read", "businesses:write"],
  idempotency: "none",
  errors: ["not_found"],
  answer: { status: 200, body: listShape(officerShape) },
  handler: ({ ctx, caller, params }) => {
    const { id } = ownBusiness(ctx, caller, params);
    return { status: 200, body: { items: officerRows(ctx.db, id).map(officerJson) } };
  },
});

const addOfficer = defineOperation({
  name: "addOfficer",
  summary: "Adds an officer, or an owner of 25 percent or more.",
  description:
    "A certification of beneficial ownership that was given before has to be given again. A person who is listed already, by social security number, is refused.",
  method: "POST",
  path: "/api/businesses/{businessId}/officers",
  scopes: ["businesses:write"],
  idempotency: "refused",
  errors: ["duplicate_officer", "setup_incomplete", "validation_error", "not_found"],
  answer: { status: 201, body: officerShape },
  body: newOfficer,
  handler: ({ ctx, caller, params, body }) => {
    const business = ownBusiness(ctx, caller, params);
    const row = verificationRow(ctx.db, business.id);
    requireTurn(business, row, "officers", ctx.clock.bankNow());
    checkBirthDate(ctx, body.dateOfBirth);
    refuseTwin(ctx, business, body.ssn);
    const officer = insertNewOfficer(ctx, business, body);
    changeVerification(ctx.db, business.id, {
      officers_step: "submitted",
      certification_step: "missing",
      certifier_name: null,
      certified_at: null,
    });
    return { status: 201, body: officerJson(officer) };
  },
});

function checkBirthDate(ctx: SandboxContext, dateOfBirth: string): void {
  if (dateOfBirth >= firstBirthDate && dateOfBirth < newYorkDay(ctx.clock.bankNow())) return;
  throw invalid("dateOfBirth", `dateOfBirth must be in the past, and not before ${firstBirthDate}`);
}

/**
 * Refuses an officer who is already listed. There is no idempotency key here, so a resend after a
 * lost answer has to be recognized.
 */
function refuseTwin(ctx: SandboxContext, business: BusinessRow, ssn: string): void {
  const twin = officerRows(ctx.db, business.id).find((row) => isSameNumber(ssn, row.ssn_hash));
  if (twin === undefined) return;
  const message = "An officer with this social security number is listed already";
  throw new ApiError(409, "duplicate_officer", message, { officerId: twin.id });
}

function insertNewOfficer(
  ctx: SandboxContext,
  business: BusinessRow,
  body: z.infer<typeof newOfficer>,
): OfficerRow {
  const { last4, hash } = keepNumber(body.ssn);
  const row: OfficerRow = {
    id: newId("off"),
    business_id: business.id,
    first_name: body.firstName,
    last_name: body.lastName,
    title: body.title,
    ssn_last4: last4,
    ssn_hash: hash,
    created_at: ctx.clock.bankNow(),
  };
  insertOfficer(ctx.db, row);
  return row;
}

const certify = defineOperation({
  name: "certifyBeneficialOwnership",
  summary: "Certifies that all owners of 25 percent or more are listed.",
  method: "POST",
  path: "/api/businesses/{businessId}/officers/certify-beneficial-ownership",
  scopes: ["businesses:write"],
  idempotency: "refused",
  errors: ["setup_incomplete", "validation_error", "not_found"],
  answer: { status: 200, body: certificationShape },
  body: z.object({ certifierName: givenName, certifiedAt: actedAt }),
  handler: ({ ctx, caller, params, body }) => {
    const business = ownBusiness(ctx, caller, params);
    refuseFuture(ctx, "certifiedAt", body.certifiedAt);
    const row = verificationRow(ctx.db, business.id);
    requireTurn(business, row, "certification", ctx.clock.bankNow());
    const { certifierName, certifiedAt } = body;
    changeVerification(ctx.db, business.id, {
      certification_step: "submitted",
      certifier_name: certifierName,
      certified_at: certifiedAt,
    });
    return { status: 200, body: { certifierName, certifiedAt } };
  },
});

/** Officers, owners and their certification (API specification, section 4). */
export const officerOperations: readonly ServiceOperation[] = [listOfficers, addOfficer, certify];
