import { once } from "node:events";
import { createServer, request } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { onTestFinished, vi } from "vitest";

export interface TestProxy {
  /** Without a user. */
  readonly url: string;
  readonly port: number;
  /** What it was asked for, such as `CONNECT service.example:443`, in order. */
  readonly asked: string[];
  /** The credentials of each of these. */
  readonly credentials: (string | undefined)[];
  /** The number of bytes that clients have sent into their tunnels. */
  readonly sentBytes: () => number;
}

/**
 * Starts a proxy that alone knows the way to some hosts, until the test ends. Whatever else it is
 * asked for is answered with 502.
 *
 * @param hosts ports of this machine by HOST:PORT
 */
export async function startProxy(hosts: Readonly<Record<string, number>> = {}): Promise<TestProxy> {
  const asked: string[] = [];
  const credentials: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  let sentBytes = 0;
  const server = createServer((incoming, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    credentials.push(incoming.headers["proxy-authorization"]);
    const url = URL.parse(incoming.url ?? "");
    const port = hosts[`${url?.hostname}:${url?.port || 80}`];
    if (url === null || port === undefined) return void outgoing.writeHead(502).end();
    const path = `${url.pathname}${url.search}`;
    const { method, headers } = incoming;
    const onward = request({ host: "127.0.0.1", port, path, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.once("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  server.on("connection", (socket) => sockets.add(socket));
  server.on("connect", (incoming, socket: Socket, head: Buffer) => {
    asked.push(`CONNECT ${incoming.url}`);
    credentials.push(incoming.headers["proxy-authorization"]);
    socket.on("error", () => undefined);
    const port = hosts[incoming.url ?? ""];
    if (port === undefined) return void socket.end("HTTP/1.1 502 unknown\r\n\r\n");
    const onward = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 open\r\n\r\n");
      onward.write(head);
      socket.on("data", (bytes) => (sentBytes += bytes.length));
      socket.pipe(onward).pipe(socket);
    });
    onward.on("error", () => socket.destroy());
    socket.once("close", () => onward.destroy());
    sentBytes += head.length;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return { url, port, asked, credentials, sentBytes: () => sentBytes };
}

/** Sets the environment's proxies until the test ends, in place of those of the machine. */
export function useProxies(variables: Readonly<Record<string, string>>): void {
  for (const name of ["http_proxy", "https_proxy", "no_proxy"]) {
    vi.stubEnv(name, variables[name]);
    vi.stubEnv(name.toUpperCase(), variables[name.toUpperCase()]);
  }
  onTestFinished(() => void vi.unstubAllEnvs());
}
