import type { Identity } from "../../../src/config/identities.ts";
import { profile, startTestGateway, type TestGateway } from "../../gateway/support/gateway.ts";
import {
  type IdentityProvider,
  startIdentityProvider,
} from "../../gateway/sign-in/identity-provider.ts";
import { freePort } from "../../support/free-port.ts";

/** Gateways for the states of signing in. */
export interface SignInWorld {
  /** Offers sign-in by a provider and links by mail. */
  readonly door: TestGateway;
  readonly provider: IdentityProvider;
  /** Allows ten requests in ten seconds. */
  readonly narrow: TestGateway;
  stop(): Promise<void>;
}

const CLIENT = { clientId: "payrun", clientSecret: "a-secret-of-the-client" };

export async function startSignInWorld(): Promise<SignInWorld> {
  const port = await freePort();
  const provider = await startIdentityProvider(CLIENT, `http://127.0.0.1:${port}`);
  const { issuer } = provider;
  const known = (name: string, roles: readonly string[]) => {
    const cora: Identity = { issuer, subject: "cora", name: "Cora Lindqvist", roles };
    return profile({
      ...{ name, businessId: `biz_${name}`, identities: [cora] },
      signIn: { provider: { issuer, ...CLIENT } },
      notify: {
        // No server listens there; the page says the same.
        smtp: { url: "smtp://127.0.0.1:1", from: "payrun@acme.example" },
        ...{ channels: [], people: { cora: "cora@acme.example" } },
      },
    });
  };
  const door = await startTestGateway({
    port,
    profiles: [
      known("acme", ["controller"]),
      known("globex", ["viewer"]),
      known("initech", ["controller"]),
    ],
  });
  const narrow = await startTestGateway({ limits: { ratePerAddress: 1 } });
  return {
    ...{ door, provider, narrow },
    async stop() {
      await Promise.all([door.stop(), narrow.stop(), provider.stop()]);
    },
  };
}
