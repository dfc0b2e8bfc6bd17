import type { Command } from "@commander-js/extra-typings";

import { type ServicePayments, ServicePaymentsBody } from "../../api/service-payments.ts";
import { spokenStamp, spokenTime, zoneName } from "../../domain/clock/spoken.ts";
import { formatUsd, sumCents } from "../../domain/money.ts";
import { type GatewayClient, gatewayOf, ofBusiness } from "../client/gateway-client.ts";
import type { CliSession } from "../client/session.ts";
import { dim, printable, textTable, yellow } from "../terminal/text.ts";
import { counted } from "../../domain/counted.ts";

export function addPaymentsCommand(program: Command, session: CliSession): void {
  program
    .command("payments")
    .description(
      "list the service's payments since a time, and which of them the store has a record of",
    )
    .requiredOption("--since <date>", "since when: YYYY-MM-DD in New York, or an instant")
    .option("--unknown", "only those that the store has no record of")
    .option("--business <name>", "needed only if several businesses are configured")
    .option("--json", "print one JSON document")
    .action((options) =>
      session.run(options, async ({ output, config }) => {
        const all = await everyPage(gatewayOf(config()), options);
        const items = all.items.filter(({ onRecord }) => options.unknown !== true || !onRecord);
        output.lines(paymentLines(all, items));
        const { business, since, zone } = all;
        output.document({ business, since, zone, items });
      }),
    );
}

type Listed = Omit<ServicePayments, "totalCount" | "nextPage">;
type Payment = ServicePayments["items"][number];

async function everyPage(
  gateway: GatewayClient,
  { since, business }: { readonly since: string; readonly business?: string | undefined },
): Promise<Listed> {
  const read = (page: number): Promise<ServicePayments> => {
    const query = new URLSearchParams({ since, page: String(page) });
    return gateway.get(
      ofBusiness(`/v1/payments?${query.toString()}`, business),
      ServicePaymentsBody,
    );
  };
  const first = await read(1);
  // A payment made meanwhile shifts others to the next page, where they appear again.
  const items = new Map<string, Payment>();
  for (let page: ServicePayments | undefined = first; page !== undefined;) {
    for (const payment of page.items) {
      if (!items.has(payment.id)) items.set(payment.id, payment);
    }
    page = page.nextPage === null ? undefined : await read(page.nextPage);
  }
  return { ...first, items: [...items.values()] };
}

const COLUMNS = [
  { title: "Amount", align: "right" },
  { title: "Status" },
  { title: "This store" },
  { title: "Payment" },
] as const;

function paymentLines({ items: all, since, zone }: Listed, items: readonly Payment[]): string[] {
  const unknown = all.filter(({ onRecord }) => !onRecord);
  const columns = [{ title: "Bill" }, { title: `Made (${zoneName(zone)})` }, ...COLUMNS];
  return [
    `${counted(all.length, "payment")} since ${spokenTime(since, zone)}; on record here: ${all.length - unknown.length}; not on record: ${unknown.length}, ${formatUsd(sumCents(unknown.map(({ amountCents }) => amountCents)))}`,
    ...(items.length === 0 ? [] : ["", ...textTable(columns, items.map(rowOf(zone)))]),
    ...(unknown.length === 0
      ? []
      : ["", dim("payrun explain BILL shows everything that is known of a bill.")]),
  ];
}

function rowOf(zone: string): (payment: Payment) => string[] {
  return (payment) => [
    printable(
      [payment.contactName ?? payment.contactId, payment.publicId ?? payment.payableId]
        .filter((text) => text !== null)
        .join(" "),
    ),
    payment.createdAt === null ? "" : spokenStamp(payment.createdAt, zone),
    formatUsd(payment.amountCents),
    printable(payment.status),
    knownText(payment),
    dim(printable(payment.id)),
  ];
}

function knownText({ onRecord, mayBeOurs, beingFoundOut }: Payment): string {
  if (onRecord) return "on record";
  if (beingFoundOut) return yellow("not on record yet: a request for its bill has no response");
  return yellow(
    mayBeOurs
      ? "not on record: made after the backup, or by someone else"
      : "not on record: made by someone else",
  );
}
