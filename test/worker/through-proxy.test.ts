import { NativeConnection } from "@temporalio/worker";
import { expect, inject, onTestFinished, test } from "vitest";
import { connectTo, lazyConnection, nativeOptions } from "../../src/temporal/connection.ts";
import { startProxy, useProxies } from "../support/proxy.ts";

const ELSEWHERE = { address: "temporal.example:7233" };
const TARGET = "CONNECT temporal.example:7233";
const CREDENTIALS = `Basic ${Buffer.from("ann:s3@cret").toString("base64")}`;

async function startWay() {
  const port = Number(inject("temporalAddress").split(":").at(-1));
  const proxy = await startProxy({ "temporal.example:7233": port });
  return { ...proxy, withUser: `http://ann:s3%40cret@127.0.0.1:${proxy.port}` };
}

test.each(["HTTPS_PROXY", "https_proxy"])(
  "a server that only the proxy of %s can reach is reached by clients and workers",
  async (variable) => {
    const proxy = await startWay();
    useProxies({ [variable]: proxy.withUser });
    const connection = await connectTo(ELSEWHERE);
    onTestFinished(() => connection.close());
    const lazy = lazyConnection(ELSEWHERE);
    onTestFinished(() => lazy.close());
    const native = await NativeConnection.connect(nativeOptions(ELSEWHERE));
    onTestFinished(() => native.close());
    for (const { workflowService } of [connection, lazy, native]) {
      const { namespaceInfo } = await workflowService.describeNamespace({ namespace: "default" });
      expect(namespaceInfo?.name).toBe("default");
    }
    expect(new Set(proxy.asked)).toEqual(new Set([TARGET]));
    expect(new Set(proxy.credentials)).toEqual(new Set([CREDENTIALS]));
    expect(proxy.asked.length).toBeGreaterThanOrEqual(3);
  },
);

test.each(["HTTPS_PROXY", "https_proxy", "http_proxy"])(
  "a server on this machine is reached directly, although there is %s",
  async (variable) => {
    const proxy = await startWay();
    useProxies({ [variable]: proxy.url });
    const address = inject("temporalAddress");
    const connection = await connectTo({ address });
    onTestFinished(() => connection.close());
    const native = await NativeConnection.connect(nativeOptions({ address }));
    onTestFinished(() => native.close());
    for (const { workflowService } of [connection, native]) {
      await workflowService.describeNamespace({ namespace: "default" });
    }
    expect(proxy.asked).toEqual([]);
  },
);
