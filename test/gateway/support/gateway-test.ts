import { onTestFinished, test } from "vitest";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "./gateway.ts";

/** Starts a gateway that stops when the test is over. */
export async function gatewayOf(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const gateway = await startTestGateway(options);
  onTestFinished(() => gateway.stop());
  return gateway;
}

/** Tests with a gateway of their own. */
export function gatewayTest(options: TestGatewayOptions = {}) {
  return test.extend("gateway", () => gatewayOf(options));
}

/** Tests that share the gateway of their file, and find what earlier ones left in its store. */
export function sharedGatewayTest(options: TestGatewayOptions = {}) {
  return test
    .extend("options", { scope: "file" }, options)
    .extend("gateway", { scope: "file" }, async ({ options: given }, { onCleanup }) => {
      const gateway = await startTestGateway(given);
      onCleanup(() => gateway.stop());
      return gateway;
    });
}
