import { get } from "node:http";
import { expect, test } from "vitest";
import { listNotices } from "../../src/store/notices/notices.ts";
import { gatewayOf } from "../gateway/support/gateway-test.ts";
import { profile, type TestGateway } from "../gateway/support/gateway.ts";
import { smtpReceiver } from "../notices/receivers.ts";

/** Reads the list of runs with a token, from one of this machine's addresses. */
function use({ url }: TestGateway, token: string, localAddress: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const request = get(`${url}/v1/runs`, { localAddress, headers }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    request.on("error", reject);
  });
}

test("the holder of a token gets a mail when it is used from an address from which none of theirs was used before, and nobody else does", async () => {
  const smtp = await smtpReceiver();
  const notify = {
    smtp: { url: smtp.url, from: "payrun@acme.example" },
    channels: [
      {
        type: "email",
        name: "ops",
        roles: null,
        kinds: null,
        addresses: { operator: ["o@a.example"] },
      },
    ] as const,
    people: { Cora: "cora@acme.example" },
  };
  const gateway = await gatewayOf({ profiles: [profile({ notify })] });
  const used = async () =>
    (await listNotices(gateway.store.db, { kind: "token-used", limit: 9 }))
      .map(({ data }) => `${String(data["name"])} ${String(data["address"])}`)
      .toSorted();
  const cora = await gateway.token("Cora", ["controller"]);
  const other = await gateway.token("cora", ["owner"]);
  const dan = await gateway.token("Dan", ["controller"]);
  expect(await use(gateway, cora, "127.0.0.1")).toBe(200);
  await expect.poll(used).toEqual(["Cora 127.0.0.1"]);
  // Her other token, and a person without an address.
  for (const token of [other, dan, cora]) await use(gateway, token, "127.0.0.1");
  expect(await use(gateway, other, "127.0.0.9")).toBe(200);
  await expect.poll(used).toEqual(["Cora 127.0.0.1", "cora 127.0.0.9"]);
  await expect.poll(() => smtp.mails.length).toBe(2);
  expect(smtp.mails.map(({ to }) => to)).toEqual([["cora@acme.example"], ["cora@acme.example"]]);
  expect(smtp.mails.map(({ source }) => source).join()).toContain("was used from 127.0.0.9");
});
