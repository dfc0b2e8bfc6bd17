import { z } from "zod";
import { fieldsOf, firstOf, id, longText, undocumented, undocumentedList } from "./common.ts";

/** An accounting integration. Its record is not documented, so only the id is relied on. */
const accountingIntegrationSchema = z.looseObject({
  id,
  provider: undocumented(longText),
  status: undocumented(longText),
  lastSyncedAt: undocumented(longText),
});

export type AccountingIntegration = z.infer<typeof accountingIntegrationSchema>;

export const accountingIntegrationListSchema = undocumentedList(
  accountingIntegrationSchema,
  "integrations",
);

/** Start of OAuth 2.0: where to send the user (API specification, section 4). */
export const accountingAuthorizationSchema = z.looseObject({
  authorizationUrl: z.string().min(1),
  accountingIntegrationId: undocumented(longText),
});

export type AccountingAuthorization = z.infer<typeof accountingAuthorizationSchema>;

/** A business's connection to the accounting system; the record is not documented. */
export const accountingConnectionSchema = z.preprocess(
  (answer) => withInstant(answer, "lastSyncedAt", ["lastSyncAt", "lastSuccessfulSyncAt"]),
  z.looseObject({
    connected: undocumented(z.boolean()),
    status: undocumented(longText),
    accountingIntegrationId: undocumented(longText),
    provider: undocumented(longText),
    lastSyncedAt: undocumented(longText),
  }),
);

/** Returns a record that may be under `data`, with an instant that may have another name. */
function withInstant(answer: unknown, name: string, others: readonly string[]): unknown {
  const body = fieldsOf(answer);
  if (body === undefined) return answer;
  const instant = firstOf(body, [name, ...others]);
  return instant === undefined ? body : { ...body, [name]: instant };
}

export type AccountingConnection = z.infer<typeof accountingConnectionSchema>;

/** A sync; the record is not documented. */
export const accountingSyncSchema = z.preprocess(
  (answer) => withInstant(answer, "finishedAt", ["completedAt", "endedAt"]),
  z.looseObject({
    id: undocumented(longText),
    status: undocumented(longText),
    entityTypes: undocumented(z.array(z.string())),
    error: undocumented(longText),
    startedAt: undocumented(longText),
    finishedAt: undocumented(longText),
  }),
);

export type AccountingSync = z.infer<typeof accountingSyncSchema>;

/** Which field of a payable maps to which of an accounting bill; the record is not documented. */
const invoiceFieldSchema = z.looseObject({
  payableField: undocumented(longText),
  accountingField: undocumented(longText),
});

export type AccountingInvoiceField = z.infer<typeof invoiceFieldSchema>;

export const invoiceFieldListSchema = undocumentedList(invoiceFieldSchema, "fields");

/** A mapping as it was made; the record is not documented. */
export const accountingMappingSchema = z.record(z.string(), z.unknown());

export type AccountingMapping = z.infer<typeof accountingMappingSchema>;
