import { relative } from "node:path";
import { z } from "zod";

import { LINE } from "../../contracts/line-states.ts";
import { type RunStatus } from "../../api/runs.ts";
import { leftOutText } from "../../domain/planning/left-out.ts";
import { eventSchema } from "../../payments-api/index.ts";
import { nameOf } from "../show/plan.ts";
import { bold, dim, green, red } from "../terminal/text.ts";
import { counted } from "../../domain/counted.ts";
import { booksAgree, booksLine, compareBooks } from "./books.ts";
import type { Demo } from "./context.ts";
import { reportBounced } from "./incidents.ts";
import { reportReleased } from "./withheld.ts";

/** @returns true if the books agree and every bill is accounted for */
export async function closingReport(demo: Demo, run: RunStatus): Promise<boolean> {
  const { narrator, sandbox, state } = demo;
  narrator.heading("Report");
  const ledger = await sandbox.ledger();
  const books = compareBooks(run, ledger, new Set(state.paymentsBefore));
  await lostWebhooks(demo, run);
  crashedBill(demo, run, ledger);
  reportReleased(demo, run, ledger);
  await reportBounced(demo, run, ledger);
  const isWhole = await everyBill(demo, run);
  const agree = booksAgree(books);
  narrator.plain("");
  narrator.plain((agree ? green : red)(bold(booksLine(books))));
  return agree && isWhole;
}

/** Reports a webhook that never arrived and was found in the service's list of deliveries. */
async function lostWebhooks(demo: Demo, run: RunStatus): Promise<void> {
  const { narrator, service, gateway, webhookEndpointId } = demo;
  const lost: string[] = [];
  for await (const page of service.deliveries.iteratePages(webhookEndpointId)) {
    for (const { status, requestBody } of page) {
      if (status !== "dead" || typeof requestBody !== "string") continue;
      const event = eventSchema.safeParse(parsed(requestBody)).data;
      const payableId = z.object({ id: z.string() }).safeParse(event?.data).data?.id;
      if (payableId !== undefined) lost.push(payableId);
    }
  }
  const line = run.payments.find(({ payableId }) => lost.includes(payableId));
  if (line === undefined) return;
  const { timeline } = await gateway.history(line.payableId);
  const found = timeline.find(({ kind, text }) => kind === "event" && text.includes("deliveries"));
  if (found === undefined) return;
  const said = found.text.replace(/^An event says: /, "").replace(/ \(found in .*$/, "");
  narrator.text(
    `${green("✓")} ${counted(lost.length, "webhook")} never arrived, and polling found what they said in the service's list of deliveries, such as “${said}” of ${nameOf(line)}.`,
  );
}

/** Reports what the bank moved for the bill of the killed worker. */
function crashedBill(
  { narrator, state }: Demo,
  run: RunStatus,
  ledger: Awaited<ReturnType<Demo["sandbox"]["ledger"]>>,
): void {
  const { crash, paymentsBefore = [] } = state;
  const line = run.payments.find(({ payableId }) => payableId === crash?.payableId);
  if (crash === undefined || line === undefined) return;
  const moves = ledger.filter(
    ({ payableId, paymentId }) =>
      payableId === crash.payableId && paymentId !== null && !paymentsBefore.includes(paymentId),
  );
  const kinds = moves.map(({ kind }) => `one ${kind}`).join(", ");
  narrator.text(
    `${green("✓")} ${nameOf(line)}, of the killed worker: the bank's moves are ${kinds}`,
  );
}

/** Counts every payable of the business, each in exactly one state. */
async function everyBill({ narrator, service }: Demo, run: RunStatus): Promise<boolean> {
  const { totalCount } = await service.payables.list({ page: 1, pageSize: 1 });
  const states = new Map<string, number>();
  for (const { state } of run.payments) states.set(state, (states.get(state) ?? 0) + 1);
  const skipped = run.plan?.skippedByCode ?? {};
  const left = Object.values(skipped).reduce((sum, number) => sum + number, 0);
  const ended = run.payments.filter(({ state }) => LINE.ended.includes(state)).length;
  const known = run.payments.length + left;
  const inRun = [...states].map(([state, number]) => `${number} ${state}`).join(", ");
  const isWhole = known === totalCount && ended === run.payments.length;
  narrator.line(
    `${isWhole ? green("✓") : red("✗")} ${counted(totalCount, "bill")}, each in one state: ${inRun}`,
  );
  narrator.text(dim(`  left out of the run: ${leftOutText(skipped)}`));
  if (!isWhole) narrator.line(red(`  ${totalCount - known} of them unaccounted for`));
  return isWhole;
}

/** Suggests what the reader can try next. */
export function whatNext(demo: Demo, home: string, staysUp: boolean): void {
  const { narrator, state, addresses } = demo;
  const fromHere = relative(process.cwd(), home);
  const here = `PAYRUN_HOME=${fromHere.startsWith("..") ? home : fromHere}`;
  const bill = state.crash?.payableId ?? "PAYABLE";
  narrator.plain("");
  narrator.plain("Two things to try next:");
  if (staysUp) {
    narrator.plain(`  ${here} npx payrun explain ${bill}`);
    narrator.plain(dim("    everything that happened to the bill whose worker was killed"));
    narrator.plain(`  ${here} npx payrun plan playbooks/small-bills-next-day.yaml`);
    narrator.plain(dim("    what another playbook would pay now, and why; it pays nothing"));
    narrator.plain("");
    narrator.plain(
      `Still up: Temporal UI ${addresses.temporalUi ?? addresses.temporal}, gateway ${addresses.gateway}. Ctrl-C stops everything.`,
    );
    return;
  }
  narrator.plain("  npx payrun up");
  narrator.plain(dim("    Payrun on a sandbox of your own, to launch and approve by hand"));
  narrator.plain("  npx payrun validate playbooks/weekly-vendors.yaml");
  narrator.plain(dim("    change the playbook, and see what it says to a mistake"));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
