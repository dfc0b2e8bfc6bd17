import { historyLines } from "../../src/cli/show/history.ts";
import { historyOf } from "../../src/reports/history/history.ts";
import type { MoneyWorld } from "./money-world.ts";
import { HistoryBody } from "../../src/api/history.ts";

/** Returns what the gateway answers about a bill, and what the command prints of it. */
export async function explainIn(world: MoneyWorld, payableId: string) {
  const profile = world.context().profileOf("acme");
  const history = HistoryBody.parse(
    await historyOf(
      {
        store: world.store,
        clientOf: ({ name }) => world.context().clientOf(name),
        clocks: { read: ({ name }) => world.context().clockOf(name).now() },
        nowMs: Date.now,
      },
      profile,
      payableId,
    ),
  );
  return { history, text: historyLines(HistoryBody.parse(history)).join("\n") };
}
