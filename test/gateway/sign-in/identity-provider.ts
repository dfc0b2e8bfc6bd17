import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";
import { Browser, fieldOf } from "./browser.ts";

export interface IdentityProvider {
  readonly issuer: string;
  /** Signs an account in at the address to which a gateway redirected. @returns the way back */
  letIn(there: string, account: string): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a company's identity provider that accepts any name. */
export async function startIdentityProvider(
  { clientId, clientSecret }: { readonly clientId: string; readonly clientSecret: string },
  gatewayUrl: string,
): Promise<IdentityProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [`${gatewayUrl}/sign-in/callback`],
      },
    ],
    findAccount: (_ctx, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: "cora@acme.example", email_verified: true }),
    }),
  });
  const answer = provider.callback();
  server.on("request", (request, response) => void answer(request, response));
  return {
    issuer,
    letIn: (there, account) => letIn(issuer, there, account),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function letIn(issuer: string, there: string, account: string): Promise<string> {
  const browser = new Browser(issuer);
  let next = there;
  for (let steps = 0; steps < 12 && next.startsWith(issuer); steps += 1) {
    const answer = await browser.get(next);
    const location = answer.headers.get("location");
    if (location !== null) {
      next = new URL(location, issuer).href;
      continue;
    }
    const page = await answer.text();
    const prompt = fieldOf(page, "prompt");
    const said = prompt === "login" ? { prompt, login: account, password: "x" } : { prompt };
    next = new URL((await browser.post(next, said)).headers.get("location") ?? "", issuer).href;
  }
  return next;
}
