import type { RunStatus } from "../../src/api/runs.ts";
import type { Json } from "./sandbox.ts";
import { PATIENCE_MS, until } from "./waits.ts";

/** Names of the tokens that every test stack has, and their roles. */
export const PEOPLE = {
  launcher: ["launcher", "operator", "viewer"],
  controller: ["controller", "viewer"],
  owner: ["owner", "viewer"],
  operator: ["operator", "viewer"],
  admin: ["admin"],
} as const;
export type Person = keyof typeof PEOPLE;

/** What people do with a test's Payrun through its gateway. */
export abstract class GatewayCalls {
  gatewayUrl = "";
  readonly tokens = new Map<Person, string>();

  abstract logs(): Promise<string>;

  tokenOf(person: Person): string {
    return this.tokens.get(person) ?? "";
  }

  /** Sends a request to the gateway as a person. */
  async call<T = Json>(
    person: Person,
    method: string,
    path: string,
    body?: unknown,
    gatewayUrl = this.gatewayUrl,
  ): Promise<{ status: number; body: T }> {
    const response = await fetch(`${gatewayUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.tokens.get(person)}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as T };
  }

  /** Stores a playbook as the administrator. */
  async apply(name: string, text: string): Promise<void> {
    const { status, body } = await this.call("admin", "POST", "/v1/playbooks", { name, text });
    if (status >= 300) throw new Error(`apply ${name}: ${status} ${JSON.stringify(body)}`);
  }

  /** Launches a stored playbook and returns the run's id. */
  async launch(playbook: string, period?: string): Promise<string> {
    const { status, body } = await this.call<{ id: string }>("launcher", "POST", "/v1/runs", {
      playbook,
      ...(period === undefined ? {} : { period }),
    });
    if (status >= 300) throw new Error(`launch ${playbook}: ${status} ${JSON.stringify(body)}`);
    return body.id;
  }

  /** Returns a run with the lines of its plan, without the bills that were left out. */
  async status(runId: string): Promise<RunStatus> {
    const path = `/v1/runs/${encodeURIComponent(runId)}?skipped=false`;
    const { status, body } = await this.call<RunStatus>("launcher", "GET", path);
    if (status !== 200) throw new Error(`status: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** Decides on the plan as it is now. */
  async decide(
    person: Person,
    runId: string,
    decision: "approve" | "reject",
    extra: Json = {},
  ): Promise<{ status: number; body: Json }> {
    const { planHash } = await this.status(runId);
    const path = `/v1/runs/${encodeURIComponent(runId)}/decisions`;
    return this.call(person, "POST", path, { decision, planHash, ...extra });
  }

  /** Waits until the run's status satisfies a condition; fails with the last status it saw. */
  async until(
    runId: string,
    what: string,
    condition: (status: RunStatus) => boolean,
    timeoutMs = PATIENCE_MS,
  ): Promise<RunStatus> {
    const failure = async ({ phase, waitingFor, counts, payments }: RunStatus): Promise<string> => {
      const lines = payments.map(({ payableId, state, reason }) => ({ payableId, state, reason }));
      const seen = JSON.stringify({ phase, waitingFor, counts, lines }, null, 1);
      return `not ${what} in time: ${seen}\n${await this.logs()}`;
    };
    return until(() => this.status(runId), condition, { timeoutMs, intervalMs: 150, failure });
  }

  untilPhase(runId: string, phase: RunStatus["phase"], timeoutMs?: number): Promise<RunStatus> {
    return this.until(runId, phase, (status) => status.phase === phase, timeoutMs);
  }
}
