import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Errors of Node's parser, each with its status and message; every other error is a 400. */
const statuses: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    "431 Request Header Fields Too Large",
    "The request's headers are too large",
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "The request took too long to arrive"],
};

/**
 * Answers requests that are not valid HTTP in the shape of every other error, and closes the
 * connection.
 */
export function answerBrokenRequests(server: Server): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    const [status, message] = statuses[error.code ?? ""] ?? [
      "400 Bad Request",
      "This is not a valid HTTP request",
    ];
    const body = bodyOf(message);
    socket.end(
      `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  });
  server.on("checkExpectation", (_: IncomingMessage, response: ServerResponse) => {
    const body = bodyOf("The only expectation that can be met is 100-continue");
    response.writeHead(417, { "content-type": "application/json" }).end(body);
  });
}

function bodyOf(message: string): string {
  return JSON.stringify({ error: "validation_error", message });
}
