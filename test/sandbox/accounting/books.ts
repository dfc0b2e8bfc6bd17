import type { ApiAnswer, Json, TestSandbox } from "../../support/sandbox.ts";
import { controlPost } from "../bank-accounts/accounts.ts";

export interface Sync {
  id: string | null;
  status: string;
  entityTypes: string[];
  results: Record<string, Json>;
  error: string | null;
}

export const redirectUri = "https://app.customer.example/accounting?from=payments";

/** The accounting integration's operations, for the first business of the fixture. */
export class Accounting {
  readonly #sandbox: TestSandbox;
  /** The id of the connection, once there is one. */
  id = "";

  constructor(sandbox: TestSandbox) {
    this.#sandbox = sandbox;
  }

  get businessId(): string {
    return this.#sandbox.business.businessId;
  }

  path(suffix = ""): string {
    return `/api/businesses/${this.businessId}/integrations/accounting${suffix}`;
  }

  get<Body = Json>(suffix = ""): Promise<ApiAnswer<Body>> {
    return this.#sandbox.api<Body>("GET", this.path(suffix));
  }

  post<Body = Json>(suffix: string, body?: Json): Promise<ApiAnswer<Body>> {
    const path = this.path(suffix);
    return this.#sandbox.api<Body>("POST", path, body === undefined ? {} : { body });
  }

  /** Connects the business and allows the access. */
  async connect(): Promise<void> {
    const { body } = await this.post("/connect", { redirectUri });
    this.id = String(body["accountingIntegrationId"]);
    await controlPost(this.#sandbox, `/accounting/${this.businessId}/authorize`, {});
  }

  /** Syncs one entity type, or all, and advances the bank clock until the sync is done. */
  async sync(entityType?: string): Promise<Record<string, Json>> {
    const suffix = entityType === undefined ? "" : `/${entityType}`;
    const answer = await this.post<Sync>(`/${this.id}/sync${suffix}`);
    if (answer.status !== 201) throw new Error(`no sync: ${answer.text}`);
    await this.#sandbox.control.advance("PT1M");
    const { body } = await this.get<Sync>(`/${this.id}/sync/status`);
    if (body.status !== "succeeded") throw new Error(`the sync is ${body.status}`);
    return body.results;
  }

  /** Creates or changes a record of the accounting system. */
  record(record: Json): Promise<Json & { id: string }> {
    return controlPost(this.#sandbox, `/accounting/${this.businessId}/records`, record);
  }
}
