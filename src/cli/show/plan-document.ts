import type { DryPlanAnswer } from "../../api/runs.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import type { Output } from "../terminal/output.ts";

/** The lists that contain each bill: paid or left out in full, and as in a run's status. */
const LISTS = ["lines", "skipped", "payments"] as const;

/**
 * Prints a dry plan with all its bills as one JSON document, page by page if there are many:
 * neither this process nor the gateway ever holds them all.
 *
 * @param first the plan with the first page of its bills
 */
export async function printPlan(
  output: Output,
  gateway: GatewayClient,
  first: DryPlanAnswer,
): Promise<void> {
  const { planId: _, page: __, pageSize: ___, nextPage, ...plan } = first;
  if (nextPage === null) output.document(plan);
  else await output.documentInParts(partsOf(gateway, first));
}

async function* partsOf(gateway: GatewayClient, first: DryPlanAnswer): AsyncGenerator<string> {
  const { planId: _, page: __, pageSize: ___, nextPage: ____, ...plan } = first;
  const head = Object.entries(plan).filter(([field]) => !LISTS.some((list) => list === field));
  yield JSON.stringify(Object.fromEntries(head), null, 2).replace(/\n\}$/, "");
  for (const list of LISTS) {
    yield `,\n  "${list}": [`;
    let before = "\n";
    for await (const page of gateway.planPages(first)) {
      for (const bill of listOf(page, list)) {
        yield `${before}    ${JSON.stringify(bill)}`;
        before = ",\n";
      }
    }
    yield "\n  ]";
  }
  yield "\n}\n";
}

function listOf(page: DryPlanAnswer, list: (typeof LISTS)[number]): readonly unknown[] {
  return (page as unknown as Record<string, readonly unknown[]>)[list] ?? [];
}
