import type { ControlRoute } from "../control/routes.ts";
import type { DocumentSchemas, OpenApiSchema } from "./json-schemas.ts";
import { tagOf } from "./tags.ts";

/** What the routes of the control API do, by method and path. */
export const controlSummaries: Readonly<Record<string, string>> = {
  "POST /sandbox/reset": "Forgets everything and loads a fixture, by name or as an object.",
  "POST /sandbox/tokens": "Makes a token of a business; by default with all scopes, for an hour.",
  "GET /sandbox/clock": "Reads both clocks, and how many bank seconds a real second has.",
  "POST /sandbox/clock":
    "Sets, advances (ISO 8601 duration) or scales the bank clock; advances the wire clock.",
  "POST /sandbox/payables": "Enters a bill in a status (default: approved), with its event.",
  "POST /sandbox/payables/{id}": "Changes a bill as the business's people would, events included.",
  "POST /sandbox/contacts/{id}": "Changes a contact as its owner would.",
  "GET /sandbox/businesses/{id}": "What the reviewer of a business's verification sees.",
  "POST /sandbox/businesses/{id}": "The reviewer's decision; locks, features and set-up.",
  "POST /sandbox/bank-accounts/{id}": "Changes a bank account as its owner or its bank would.",
  "POST /sandbox/accounting/{id}/authorize":
    "Ends the OAuth of a business's accounting connection.",
  "GET /sandbox/accounting/{id}": "What the simulated accounting system of a business holds.",
  "POST /sandbox/accounting/{id}/records": "Changes what the simulated accounting system holds.",
  "POST /sandbox/invoices": "Enters an invoice in a status, with its event.",
  "POST /sandbox/invoices/{id}": "Does with an invoice what its customer would.",
  "GET /sandbox/micro-deposits/{id}": "The two amounts that a bank account was sent.",
  "POST /sandbox/payments": "Records a payment made by check, wire or cash.",
  "POST /sandbox/outcomes": "Says what the bank does with the payments that match.",
  "POST /sandbox/faults": "Replaces all fault rules; none clears them.",
  "GET /sandbox/ledger": "The bank's ledger, from the bank's own process.",
  "GET /sandbox/requests": "What was received, in the order of its answers.",
  "GET /sandbox/health": "Whether the bank is up and its books agree with the service's.",
};

/** Adds the control API to a document's paths. */
export function addControlPaths(
  paths: Record<string, OpenApiSchema>,
  routes: readonly ControlRoute[],
  schemas: DocumentSchemas,
): void {
  for (const { method, path: route, body, status } of routes) {
    const path = route.replace(/:(\w+)/g, "{$1}");
    const described = (paths[path] ??= {});
    described[method.toLowerCase()] = {
      operationId: operationIdOf(method, path),
      summary: controlSummaries[`${method} ${path}`] ?? path,
      tags: [tagOf(path)],
      security: [],
      parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
        name,
        in: "path",
        required: true,
        schema: { type: "string" },
      })),
      ...(body !== undefined && {
        requestBody: {
          required: !body.safeParse(undefined).success,
          content: { "application/json": { schema: schemas.add(body, "input") } },
        },
      }),
      responses: {
        [status]: { description: "Done.", content: json({ type: "object" }) },
        "4XX": {
          description: "Refused.",
          content: json({ $ref: "#/components/schemas/Error" }),
        },
      },
    };
  }
}

function operationIdOf(method: string, path: string): string {
  const words = path.replace(/\{\w+\}/g, "one").split(/\W+/);
  return words
    .filter(Boolean)
    .reduce((id, word) => id + word.charAt(0).toUpperCase() + word.slice(1), method.toLowerCase());
}

function json(schema: OpenApiSchema): OpenApiSchema {
  return { "application/json": { schema } };
}
