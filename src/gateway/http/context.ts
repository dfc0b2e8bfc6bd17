import type { PayloadCodec } from "@temporalio/common";
import type { ActionContext } from "../../actions/context.ts";
import type { Mailer } from "../../notices/mail.ts";
import type { InboxWriter } from "../../events/inbox-writer.ts";
import type { Rates, UnprovenBodies } from "./limits.ts";
import type { Proxies } from "./proxies.ts";
import type { TokenUses } from "./token-uses.ts";
import type { Metrics } from "./metrics.ts";
import type { StoreProbe } from "../store-probe.ts";

/** What the gateway's parts share; made by `createGateway`. */
export interface GatewayContext extends ActionContext {
  readonly metrics: Metrics;
  readonly inbox: InboxWriter;
  readonly storeProbe: StoreProbe;
  /** When Temporal stopped answering this gateway; undefined while it answers. */
  readonly temporalSilence: { sinceMs: number | undefined };
  readonly rates: Rates;
  readonly proxies: Proxies;
  readonly uses: TokenUses;
  /** Sends the mails with sign-in links. */
  readonly mailer: Mailer;
  /** True if no business moves real money: then tokens need no confirmation. */
  readonly sandboxesOnly: () => boolean;
  readonly unproven: UnprovenBodies;
  /** Decrypts what Temporal keeps. */
  readonly codec: PayloadCodec;
  /** Ids of the gateway's encryption keys; the first is the one that it encrypts with. */
  readonly keyIds: readonly string[];
  /** Origins of pages that may have payloads decrypted. */
  readonly temporalUiOrigins: readonly string[];
  /** How long `POST /v1/plans` waits for a worker. */
  readonly planTimeoutMs: number;
}
