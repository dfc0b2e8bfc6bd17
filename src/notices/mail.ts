import { createTransport, type Transporter } from "nodemailer";
import { definedOnly } from "../contracts/defined-only.ts";
import type { SmtpSettings } from "../config/business-profile.ts";
import type { Email } from "./messages.ts";
import { codeOf, type TryResult } from "./results.ts";

const TIMEOUT_MS = 10_000;

/** Sends e-mail over the SMTP servers of the profiles, one connection pool a server. */
export class Mailer {
  readonly #transports = new Map<string, Transporter>();

  async send(smtp: SmtpSettings, to: string, email: Email): Promise<TryResult> {
    try {
      await this.#transport(smtp.url).sendMail({
        from: smtp.from,
        to: { name: "", address: to },
        subject: email.subject,
        text: email.text,
        messageId: email.messageId,
        ...definedOnly({ replyTo: email.replyTo }),
        headers: { "Auto-Submitted": "auto-generated" },
        // A text from outside must never become a file of ours or a page that we fetch.
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      return { kind: "sent" };
    } catch (error) {
      return resultOf(error);
    }
  }

  close(): void {
    for (const transport of this.#transports.values()) transport.close();
    this.#transports.clear();
  }

  #transport(url: string): Transporter {
    const known = this.#transports.get(url);
    if (known !== undefined) return known;
    const { protocol, hostname, port, username, password } = new URL(url);
    const isSecure = protocol === "smtps:";
    const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
    const transport = createTransport({
      pool: true,
      maxConnections: 2,
      host: hostname.replaceAll(/^\[|\]$/g, ""),
      port: port === "" ? (isSecure ? 465 : 587) : Number(port),
      secure: isSecure,
      // Names and amounts, and the password, don't cross a network in the clear.
      requireTLS: !isSecure && !isLocal,
      ignoreTLS: !isSecure && isLocal,
      ...(username === ""
        ? {}
        : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
    });
    this.#transports.set(url, transport);
    return transport;
  }
}

/** Judges an error by its code alone: the server's words may repeat the address. */
function resultOf(error: unknown): TryResult {
  const code = codeOf(error);
  const answered =
    error instanceof Error && "responseCode" in error && typeof error.responseCode === "number"
      ? error.responseCode
      : undefined;
  if (code === "EAUTH") {
    const problem = "the SMTP server refused the user or password";
    return { kind: "failed", problem, channelDown: true };
  }
  if (answered === undefined) {
    const problem = `the SMTP server can't be reached or broke off (${code})`;
    return { kind: "failed", problem, channelDown: true };
  }
  const isAboutThis = code === "EENVELOPE" || code === "EMESSAGE";
  if (answered >= 500 && isAboutThis) {
    return { kind: "refused", problem: `the SMTP server refused it (${answered})` };
  }
  const problem = `the SMTP server answered ${answered}`;
  return { kind: "failed", problem, channelDown: !isAboutThis };
}
