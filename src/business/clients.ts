import type { BusinessProfile } from "../config/business-profile.ts";
import { PaymentsClient, type TokenSource } from "../payments-api/index.ts";

export interface ClientsOptions {
  /** Requests in flight at once, for each business. */
  readonly connections: number;
  readonly timeoutMs: number;
  /** Called with the service's time at each answer. */
  readonly onDate?: (profile: BusinessProfile, dateMs: number) => void;
}

/** One client of the Payments Service for each business, made anew when its profile changes. */
export class Clients {
  readonly #options: ClientsOptions;
  readonly #clients = new Map<string, { profile: BusinessProfile; client: PaymentsClient }>();

  constructor(options: ClientsOptions) {
    this.#options = options;
  }

  of(profile: BusinessProfile): PaymentsClient {
    const known = this.#clients.get(profile.name);
    if (known !== undefined && known.profile === profile) return known.client;
    // Closing waits for requests in flight; nothing here needs to wait for that.
    void known?.client.close();
    const { onDate, connections, timeoutMs } = this.#options;
    const client = new PaymentsClient({
      baseUrl: profile.apiUrl,
      token: tokenOf(profile),
      connections,
      timeoutMs,
      ...(onDate === undefined ? {} : { onDate: (dateMs) => onDate(profile, dateMs) }),
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
