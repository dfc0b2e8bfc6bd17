import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { sendJson, startService } from "./local-service.ts";

const program = fileURLToPath(new URL("children/frozen-sender.ts", import.meta.url));

interface Frozen {
  readonly child: ChildProcess;
  /** What the process reports after it resumes. */
  readonly answer: Promise<unknown>;
}

/** Starts a process that freezes just before it sends a money write. */
async function frozenSender(
  baseUrl: string,
  leaveWithinMs: number,
  connection: "open" | "new",
): Promise<Frozen> {
  const args = ["--disable-warning=ExperimentalWarning", program];
  const child = spawn(process.execPath, [...args, baseUrl, String(leaveWithinMs), connection], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe("stops");
  const told = async (): Promise<unknown> => JSON.parse(String((await lines.next()).value));
  return { child, answer: told() };
}

/** Resumes the process again and again, in case it freezes only after the first signal. */
async function goOn({ child }: Frozen): Promise<void> {
  const exited = once(child, "exit");
  const again = setInterval(() => child.kill("SIGCONT"), 50);
  await exited;
  clearInterval(again);
}

test.each(["open", "new"] as const)(
  "a process that was frozen past its time to leave sends nothing when it resumes, on a connection that is %s",
  async (connection) => {
    const service = await startService((_received, response) => sendJson(response, 201, {}));
    const frozen = await frozenSender(service.baseUrl, 300, connection);
    await sleep(400);
    await goOn(frozen);
    expect(await frozen.answer).toEqual({
      kind: "no-answer",
      sent: false,
      code: "not_sent",
      reason: "its time to leave had passed",
    });
    const keys = service.received.map(({ headers }) => headers["idempotency-key"]);
    expect(keys).toEqual(connection === "open" ? ["first"] : []);
  },
);

test("a process that resumes before its time to leave has passed sends its request", async () => {
  const service = await startService((_received, response) => sendJson(response, 201, {}));
  const frozen = await frozenSender(service.baseUrl, 60_000, "open");
  await sleep(100);
  await goOn(frozen);
  expect(await frozen.answer).toMatchObject({ kind: "http", status: 201 });
  const keys = service.received.map(({ headers }) => headers["idempotency-key"]);
  expect(keys).toEqual(["first", "frozen"]);
});
