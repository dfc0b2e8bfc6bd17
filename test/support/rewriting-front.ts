import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { textWithDepth } from "./deep-json.ts";

/** Changes what the service answers to a read. */
export type Rewrite = (path: string, body: unknown) => unknown;

export interface RewritingFront {
  readonly url: string;
  /** What is changed from now on; nothing at first. */
  rewrite: Rewrite;
  stop(): void;
}

/** Stands in front of a service and rewrites the JSON of its answers to reads. */
export async function startRewritingFront(target: string): Promise<RewritingFront> {
  const front = { url: "", rewrite: (_path: string, body: unknown): unknown => body, stop };
  const server = createServer((request, response) => {
    const forward = async (): Promise<void> => {
      const { method = "GET", url = "/" } = request;
      const answer = await fetch(`${target}${url}`, {
        method,
        headers: headersOf(request),
        ...(method === "GET" ? {} : { body: await bodyOf(request) }),
      });
      const text = await answer.text();
      const isRead = method === "GET" && answer.ok && url.startsWith("/v1/");
      response
        .writeHead(answer.status, { "content-type": "application/json" })
        .end(isRead ? textWithDepth(front.rewrite(url, JSON.parse(text))) : text);
    };
    forward().catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no address");
  front.url = `http://127.0.0.1:${address.port}`;
  return front;

  function stop(): void {
    server.close();
    server.closeAllConnections();
  }
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const kept = ["authorization", "content-type", "idempotency-key"];
  return Object.fromEntries(
    kept.flatMap((name) => {
      const value = headers[name];
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
