/**
 * Sends one money write and freezes, like a machine that is suspended, right before the write
 * leaves: `frozen-sender.ts BASE_URL LEAVE_WITHIN_MS open|new`, on a connection that is open or on
 * a new one. Prints the result.
 */
import { writeSync } from "node:fs";
import { PaymentsClient, TimeLimit } from "../../../src/payments-api/index.ts";

const [baseUrl = "", leaveWithinMs = "", connection = ""] = process.argv.slice(2);

function freeze(): void {
  // Written directly, not through a stream: it must be out before the process freezes.
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
