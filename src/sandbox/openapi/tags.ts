/** The groups of the operations, in the order of the specification. */
const tagByPath: readonly (readonly [prefix: RegExp, name: string])[] = [
  [/^\/v1\/payments/, "Payments"],
  [/retry-payment$/, "Payments"],
  [/^\/v1\/contacts/, "Contacts"],
  [/^\/v1\/payables/, "Payables"],
  [/^\/v1\/invoices/, "Invoices"],
  [/^\/v1\/funding-sources/, "Funding sources"],
  [/^\/v1\/balance/, "Balance"],
  [/^\/v1\/bank-accounts/, "Bank accounts"],
  [/^\/v1\/webhook-endpoints/, "Webhooks"],
  [/\/integrations\/accounting/, "Accounting integration"],
  [/\/officers/, "Verification"],
  [/\/tax/, "Verification"],
  [/^\/api\/businesses/, "Businesses"],
  [/^\/sandbox/, "Sandbox control"],
];

/** Returns the group that an operation belongs to. */
export function tagOf(path: string): string {
  return tagByPath.find(([prefix]) => prefix.test(path))?.[1] ?? "Other";
}

export const tags = [...new Set(tagByPath.map(([, name]) => name))].map((name) =>
  name === "Sandbox control"
    ? { name, description: "Beside the service, never on the real one. Takes no token." }
    : { name },
);
