import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("plain-server.ts", import.meta.url));

/**
 * Starts a server that does nothing but answer, in a process of its own: everything is compared
 * with it.
 */
export async function startPlainServer(): Promise<{
  url: string;
  pid: number | undefined;
  stop: () => Promise<void>;
}> {
  const child: ChildProcess = spawn(process.execPath, [program], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  if (child.stdout === null) throw new Error("the plain server has no standard output");
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const { url } = JSON.parse(String(line)) as { url: string };
  return {
    url,
    pid: child.pid,
    async stop() {
      const exited = once(child, "exit");
      child.stdin?.end();
      await exited;
    },
  };
}

/** Counts the webhooks that arrive, and records when. */
export class WebhookCounter {
  count = 0;
  firstAt = 0;
  lastAt = 0;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<WebhookCounter> {
    const server = createServer();
    const counter = new WebhookCounter(server);
    server.on("request", (request, response) => {
      request.resume().on("end", () => {
        counter.lastAt = performance.now();
        if (counter.count === 0) counter.firstAt = counter.lastAt;
        counter.count += 1;
        response.writeHead(204).end();
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return counter;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/webhooks`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
