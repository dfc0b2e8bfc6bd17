import type { BusinessProfile } from "../config/business-profile.ts";
import { PaymentsClient, type TokenSource } from "../payments-api/index.ts";

/** One client of the Payments Service for each business, made anew when its profile changes. */
export class Clients {
  readonly #clients = new Map<string, { profile: BusinessProfile; client: PaymentsClient }>();

  of(profile: BusinessProfile): PaymentsClient {
    const known = this.#clients.get(profile.name);
    if (known !== undefined && known.profile === profile) return known.client;
    void known?.client.close();
    const client = new PaymentsClient({
      baseUrl: profile.apiUrl,
      token: tokenOf(profile),
      connections: 4,
      timeoutMs: 15_000,
    });
    this.#clients.set(profile.name, { profile, client });
    return client;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map(({ client }) => client.close()));
  }
}

function tokenOf({ token }: BusinessProfile): TokenSource {
  switch (token.kind) {
    case "value":
      return { value: token.value };
    case "file":
      return { file: token.path };
    case "command":
      return { command: token.command };
  }
}
