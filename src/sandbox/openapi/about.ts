/** What stands at the top of the API's page: what it is, and what the sandbox has chosen. */
export const about = `A whole Payments Service on this machine, with no real money behind it. It pays vendors by
ACH, receives payments, and pushes signed webhook events.

**Where the specification is silent**, the sandbox had to choose; \`docs/sandbox-choices.md\` lists every choice.
The real service may differ. Those that meet every caller:

- State refusals (\`payment_in_progress\`, \`insufficient_balance\`, \`setup_required\`, \`approval_required\`,
  \`payments_locked\`, \`setup_incomplete\`) are 409, \`feature_unavailable\` is 403, \`contact_not_payable\` 422.
- 400 is for what is no JSON, of a wrong type, missing or combined wrongly; 422 for the right type out of
  range or format. Unknown fields are ignored. A field that may be left out may also be null.
- Checked in this order: token, scope, body as JSON, idempotency key, then the fields and the rules.
- 401 does not bind an idempotency key; 403 and 404 do; a 409, a 429 and a state refusal do not. Keys are kept
  until the sandbox is reset. Two \`Idempotency-Key\` headers are a 400.
- A JSON body may have 1 MiB, one with files 10 MiB.

**The same operations as MCP tools** are at \`/mcp\` (Streamable HTTP), with the same token and scopes; the key is
the argument \`idempotencyKey\`. The same key through REST and MCP conflicts.

Timestamps of resources run on the sandbox's bank clock; events, deliveries, tokens and the \`Date\` header on its
wire clock.`;
