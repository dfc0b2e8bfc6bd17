import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** Address of a service that lists no funding source any more, until the test has ended. */
export async function serviceWithoutSources(): Promise<string> {
  const service = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end('{"items":[]}');
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void service.close());
  return `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
}
