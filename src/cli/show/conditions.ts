import { type Condition, ConditionListBody } from "../../api/conditions.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import { dim, printable, red, yellow } from "../terminal/text.ts";

/** What is not as it should be, and what helps. */
export function conditionLines({ severity, text, remedy }: Condition): string[] {
  const mark = severity === "failed" ? red("✗") : yellow("!");
  return [`${mark} ${printable(text)}`, dim(`  ${printable(remedy)}`)];
}

/** Why a run stands still that nobody works on; nothing where somebody does. */
export async function nobodyWorks(gateway: GatewayClient): Promise<string[]> {
  const { items } = await gateway.get("/v1/conditions", ConditionListBody);
  return items.filter(({ code }) => code === "no-worker").flatMap(conditionLines);
}

/** A look that is too dear for each poll: its last answer, and a new one after a while. */
export function everySoOften<T>(
  look: () => Promise<T>,
  first: T,
  everyMs: number,
): () => Promise<T> {
  let [last, atMs] = [first, Date.now()];
  return async () => {
    if (Date.now() - atMs < everyMs) return last;
    last = await look();
    atMs = Date.now();
    return last;
  };
}
