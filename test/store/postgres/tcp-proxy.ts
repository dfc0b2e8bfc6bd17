import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A proxy between a store and its server that cuts connections, or drops texts, as a test wants. */
export class TcpProxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #cutAfter: string | undefined;
  #blanked: RegExp | undefined;
  #cuts = 0;

  constructor(target: { readonly host: string; readonly port: number }) {
    this.#target = target;
    this.#server = createServer((client) => this.#join(client));
  }

  static async before(url: string): Promise<TcpProxy> {
    const { hostname, port } = new URL(url);
    const proxy = new TcpProxy({ host: hostname, port: Number(port || 5432) });
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  /** Returns the URL of a database through the proxy. */
  urlOf(url: string): string {
    const through = new URL(url);
    const address = this.#server.address();
    through.hostname = "127.0.0.1";
    through.port = typeof address === "object" && address ? String(address.port) : "";
    return through.href;
  }

  /**
   * Lets the next statement with this text through to the server, and cuts the connection before
   * the response comes back.
   */
  loseAnswerOf(statement: string): void {
    this.#cutAfter = statement;
  }

  /** Replaces all texts that match, on their way to the server, with blanks. */
  blank(texts: RegExp): void {
    this.#blanked = texts;
  }

  /** The number of connections cut by `loseAnswerOf`. */
  get cuts(): number {
    return this.#cuts;
  }

  cutAll(): void {
    for (const socket of this.#open) socket.destroy();
  }

  async close(): Promise<void> {
    this.cutAll();
    this.#server.close();
    await once(this.#server, "close");
  }

  #join(client: Socket): void {
    const server = connect(this.#target);
    let isLosing = false;
    for (const socket of [client, server]) {
      this.#open.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        this.#open.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.on("data", (bytes) => {
      if (this.#cutAfter !== undefined && bytes.includes(`${this.#cutAfter}\0`)) {
        this.#cutAfter = undefined;
        isLosing = true;
      }
      server.write(this.#blanked === undefined ? bytes : blanked(bytes, this.#blanked));
    });
    server.on("data", (bytes) => {
      if (!isLosing) {
        client.write(bytes);
        return;
      }
      this.#cuts += 1;
      client.destroy();
    });
  }
}

function blanked(bytes: Buffer, texts: RegExp): Buffer {
  const text = bytes.toString("latin1");
  return Buffer.from(
    text.replace(texts, (found) => " ".repeat(found.length)),
    "latin1",
  );
}
