import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { onTestFinished } from "vitest";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface HttpReceiver {
  readonly url: string;
  readonly received: Received[];
  /** The response from now on. */
  answer: { status: number; headers?: Record<string, string> } | "never";
}

/** Starts a web server that keeps what it receives. */
export async function httpReceiver(): Promise<HttpReceiver> {
  const receiver: { url: string; received: Received[]; answer: HttpReceiver["answer"] } = {
    url: "",
    received: [],
    answer: { status: 204 },
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      receiver.received.push({
        path: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(parts).toString("utf8"),
      });
      if (receiver.answer === "never") return;
      response.writeHead(receiver.answer.status, receiver.answer.headers).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return receiver;
}

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly source: string;
}

export interface SmtpReceiver {
  /** With the user and the password. */
  readonly url: string;
  readonly mails: Mail[];
  /** Addresses without a mailbox. */
  readonly unknown: Set<string>;
  /** While it is set, every message is refused with this code. */
  failWith: number | undefined;
}

const SMTP_USER = "payrun";
export const SMTP_PASSWORD = "p@ss:word-of-smtp";

/** Starts a real SMTP server that keeps what it receives, and requires a password. */
export async function smtpReceiver(): Promise<SmtpReceiver> {
  const state: { url: string; mails: Mail[]; unknown: Set<string>; failWith: number | undefined } =
    { url: "", mails: [], unknown: new Set(), failWith: undefined };
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    logger: false,
    onAuth(auth, _session, done) {
      const isKnown = auth.username === SMTP_USER && auth.password === SMTP_PASSWORD;
      done(isKnown ? null : refusal(535, "no"), isKnown ? { user: SMTP_USER } : undefined);
    },
    onRcptTo({ address }, _session, done) {
      done(state.unknown.has(address) ? refusal(550, `no mailbox ${address}`) : null);
    },
    onData(stream, session, done) {
      const parts: Buffer[] = [];
      stream.on("data", (part: Buffer) => parts.push(part));
      stream.on("end", () => {
        if (state.failWith !== undefined) {
          done(refusal(state.failWith, "later"));
          return;
        }
        const { mailFrom, rcptTo } = session.envelope;
        state.mails.push({
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          source: Buffer.concat(parts).toString("utf8"),
        });
        done();
      });
    },
  });
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve());
  });
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  const user = `${SMTP_USER}:${encodeURIComponent(SMTP_PASSWORD)}`;
  state.url = `smtp://${user}@127.0.0.1:${port}`;
  return state;
}

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
