import { once } from "node:events";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { isSessionOver } from "../../../src/store/postgres/errors.ts";
import { makePool } from "../../../src/store/postgres/pool.ts";
import { Sessions } from "../../../src/store/postgres/sessions.ts";

/** A message of PostgreSQL's protocol. */
function message(type: string, body: string | Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + Buffer.byteLength(body));
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body)]);
}

const GREETING = Buffer.concat([message("R", Buffer.alloc(4)), message("Z", "I")]);
const FAREWELL = message("E", "SFATAL\0C57P01\0Mterminating connection\0\0");

test("a session that its server ends in the same breath in which it began fails as one that is over", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(Buffer.concat([GREETING, FAREWELL])));
  });
  onTestFinished(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const url = `postgres://payrun@127.0.0.1:${port}/payrun`;
  const sessions = new Sessions(makePool(url, { max: 1, answerMs: 60_000 }));
  onTestFinished(() => sessions.close());
  const session = await sessions.take();
  const failure: unknown = await session.query("select 1").catch((error: unknown) => error);
  expect(isSessionOver(failure)).toBe(true);
  await sessions.giveBack(session, failure);
});
