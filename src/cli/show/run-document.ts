import type { RunStatus } from "../../api/runs.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import type { Output } from "../terminal/output.ts";

/** A response that may have more pages. */
interface Paged {
  readonly page?: number | undefined;
  readonly pageSize?: number | undefined;
  readonly nextPage?: number | null | undefined;
}

/** Prints a run with all its bills as one JSON document. */
export async function printRun(
  output: Output,
  gateway: GatewayClient,
  first: RunStatus,
): Promise<void> {
  await printPages(output, first, "payments", gateway.wholeRunPages(first));
}

/**
 * Prints a response with the bills of all its pages as one JSON document, page by page if there are
 * many: neither this process nor the gateway ever holds them all.
 *
 * @param first the response's first page
 * @param list the field that contains the bills
 * @param pages all pages, including the first
 */
export async function printPages<List extends string, Answer extends Paged & Lists<List>>(
  output: Output,
  first: Answer,
  list: List,
  pages: AsyncIterable<Answer>,
): Promise<void> {
  if ((first.nextPage ?? null) === null) output.document(first);
  else await output.documentInParts(partsOf(first, list, pages));
}

type Lists<List extends string> = Readonly<Record<List, readonly object[]>>;

async function* partsOf<List extends string, Answer extends Paged & Lists<List>>(
  first: Answer,
  list: List,
  pages: AsyncIterable<Answer>,
): AsyncGenerator<string> {
  const { [list]: _, page: __, pageSize: ___, nextPage: ____, ...head } = first;
  yield `${JSON.stringify(head, null, 2).replace(/\n\}$/, "")},\n  "${list}": [`;
  let before = "\n";
  for await (const page of pages) {
    for (const bill of page[list]) {
      yield `${before}    ${JSON.stringify(bill)}`;
      before = ",\n";
    }
  }
  yield "\n  ]\n}\n";
}
