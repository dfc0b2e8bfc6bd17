import type { RunStatus } from "../../api/runs.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import type { Output } from "../terminal/output.ts";

/**
 * Prints a run with all its bills as one JSON document, page by page where there are many: neither
 * this process nor the gateway ever holds them all.
 *
 * @param first the run with the first page of its bills
 */
export async function printRun(
  output: Output,
  gateway: GatewayClient,
  first: RunStatus,
): Promise<void> {
  if ((first.nextPage ?? null) === null) output.document(first);
  else await output.documentInParts(partsOf(gateway, first));
}

async function* partsOf(gateway: GatewayClient, first: RunStatus): AsyncGenerator<string> {
  const { payments, page: _, pageSize: __, nextPage, ...head } = first;
  yield `${JSON.stringify(head, null, 2).replace(/\n\}$/, "")},\n  "payments": [\n`;
  yield rowsOf(payments);
  for (let page = nextPage ?? null; page !== null;) {
    const next = await gateway.wholeRun(first.id, page);
    if (next.payments.length > 0) yield `,\n${rowsOf(next.payments)}`;
    page = next.nextPage ?? null;
  }
  yield "\n  ]\n}\n";
}

function rowsOf(payments: RunStatus["payments"]): string {
  return payments.map((payment) => `    ${JSON.stringify(payment)}`).join(",\n");
}
