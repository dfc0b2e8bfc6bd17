import type { PayloadCodec } from "@temporalio/common";
import type { ActionContext } from "../../actions/context.ts";
import type { Mailer } from "../../notices/mail.ts";
import type { InboxWriter } from "../../events/inbox-writer.ts";
import type { Rates, UnprovenBodies } from "./limits.ts";
import type { Proxies } from "./proxies.ts";
import type { TokenUses } from "./token-uses.ts";
import type { Metrics } from "./metrics.ts";

/** What the gateway's parts stand on; `createGateway` makes it. */
export interface GatewayContext extends ActionContext {
  readonly metrics: Metrics;
  readonly inbox: InboxWriter;
  /** Since when Temporal has not answered this gateway; undefined while it answers. */
  readonly temporalSilence: { sinceMs: number | undefined };
  readonly rates: Rates;
  readonly proxies: Proxies;
  readonly uses: TokenUses;
  /** Of links that sign people in. */
  readonly mailer: Mailer;
  /** True where no business moves real money: then nobody needs to confirm a token. */
  readonly sandboxesOnly: () => boolean;
  readonly unproven: UnprovenBodies;
  /** Decrypts what Temporal keeps. */
  readonly codec: PayloadCodec;
  /** Of its encryption keys, the one first that it encrypts with. */
  readonly keyIds: readonly string[];
  /** Origins of pages that may ask for it. */
  readonly temporalUiOrigins: readonly string[];
  /** How long `POST /v1/plans` waits for a worker. */
  readonly planTimeoutMs: number;
}
