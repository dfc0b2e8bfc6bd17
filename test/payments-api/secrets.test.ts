import { inspect } from "node:util";
import { expect, test } from "vitest";
import { rejection, sendJson, startService } from "./local-service.ts";

const secret = "eyJhbGciOiJub25lIn0.eyJzZWNyZXQiOiJ5ZXMifQ.c2lnbmF0dXJl";

function everythingOf(value: unknown): string {
  const texts = [inspect(value, { depth: 20, showHidden: true }), JSON.stringify(value) ?? ""];
  if (value instanceof Error)
    texts.push(value.stack ?? "", String(value), everythingOf(value.cause));
  return texts.join("\n");
}

test("the client does not show its token", async () => {
  const service = await startService((_received, response) => sendJson(response, 200, {}));
  const client = service.client({ token: { value: secret } });
  await rejection(client.payments.list());
  expect(everythingOf(client)).not.toContain(secret);
});

test("no error shows the token, even if the service echoes it", async () => {
  const service = await startService((received, response, index) => {
    const echo = received.headers.authorization ?? "";
    if (index === 0) response.destroy();
    else if (index === 1)
      sendJson(response, 400, { error: "bad", message: echo, details: { echo } });
    else if (index === 2) sendJson(response, 201, { payableId: echo, payments: [{ id: echo }] });
    else if (index === 3) response.writeHead(502).end(`<html>${echo}</html>`);
    else if (index === 4) response.writeHead(201, { "content-length": "500" }).end(echo);
  });
  const token = { value: secret };
  const patient = service.client({ token });
  // The fifth response stops in its middle, the sixth never comes.
  const impatient = service.client({ token, timeoutMs: 1_000 });
  // A process that stops before it has sent a request tries again: each response comes once.
  for (let index = 0; service.received.length < 6; index += 1) {
    const client = service.received.length < 4 ? patient : impatient;
    const error = await rejection(
      client.payments.create({ payableId: "p" }, { idempotencyKey: `k-${index}` }),
    );
    expect(everythingOf(error)).not.toContain(secret);
    expect(everythingOf(error)).not.toContain("Bearer ey");
  }
  expect(service.received).toHaveLength(6);
});

test("the recorded response of a money write does not show the token", async () => {
  const service = await startService((received, response) =>
    sendJson(response, 500, { error: "oops", message: received.headers.authorization }),
  );
  const answer = await service.client({ token: { value: secret } }).sendMoneyWrite({
    method: "POST",
    path: "/v1/payments",
    bodyText: "{}",
    idempotencyKey: "k",
  });
  expect(everythingOf(answer)).not.toContain(secret);
});

test("an error does not show the search text", async () => {
  const service = await startService((_received, response) => void response.destroy());
  const error = await rejection(service.client().contacts.list({ search: "someone@example.com" }));
  expect(everythingOf(error)).not.toContain("someone");
});

test.each([
  ["ftp://host", "not an address"],
  ["nonsense", "not an address"],
  ["http://user:hunter2@host", "must not hold a user or password"],
  ["ftp://user:hunter2@host", "not an address"],
  ["http://host/?a=1", "query"],
])("the base URL %s is refused without showing a password", async (baseUrl, why) => {
  const service = await startService(() => undefined);
  expect(() => service.client({ baseUrl })).toThrow(why);
  expect(() => service.client({ baseUrl })).not.toThrow("hunter2");
});
