/**
 * Sends one money write and is stopped, as a machine that stands still would, right before it
 * leaves: `frozen-sender.ts BASE_URL LEAVE_WITHIN_MS open|new`, with a connection that is open or
 * one that is still to be made. Prints what came of it.
 */
import { writeSync } from "node:fs";
import { PaymentsClient, TimeLimit } from "../../../src/payments-api/index.ts";

const [baseUrl = "", leaveWithinMs = "", connection = ""] = process.argv.slice(2);

function freeze(): void {
  // Not through a stream: it has to be out before everything stands still.
  writeSync(1, "stops\n");
  process.kill(process.pid, "SIGSTOP");
}

const client = new PaymentsClient({ baseUrl, token: { value: "test-token" }, connections: 1 });
const write = { method: "POST", path: "/v1/payments", bodyText: "{}" } as const;
if (connection === "open") await client.sendMoneyWrite({ ...write, idempotencyKey: "first" });
const answer = await client.sendMoneyWrite({
  ...write,
  idempotencyKey: "frozen",
  leaveBy: new TimeLimit(Number(leaveWithinMs)),
  beforeSend: connection === "open" ? freeze : () => process.nextTick(freeze),
});
writeSync(1, `${JSON.stringify(answer)}\n`);
await client.close();
