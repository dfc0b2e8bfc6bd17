import type { PaymentsClient } from "../../payments-api/index.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import type { RunningPart, Processes } from "../parts/processes.ts";
import type { SandboxControl } from "../client/sandbox-control.ts";
import type { Addresses } from "../parts/stack.ts";
import type { Supervision } from "../parts/supervised.ts";
import type { Narrator } from "./narrator.ts";
import type { People } from "./people.ts";
import type { DemoState } from "./state.ts";

/** What the demo's steps share. */
export interface Demo {
  readonly narrator: Narrator;
  readonly supervision: Supervision;
  readonly processes: Processes;
  readonly addresses: Addresses;
  readonly people: People;
  /** Acts as the local administrator. */
  readonly gateway: GatewayClient;
  readonly sandbox: SandboxControl;
  /** The Payments Service, as the business sees it. */
  readonly service: PaymentsClient;
  readonly webhookEndpointId: string;
  /** The worker that is running; replaced after it was killed. */
  worker: RunningPart;
  readonly startWorker: () => Promise<RunningPart>;
  readonly state: DemoState;
  /** Changes the state and writes it to disk. */
  readonly remember: (change: Partial<DemoState>) => void;
}

/** Returns the run's id, which exists from the launch on. */
export function runIdOf({ state }: Demo): string {
  if (state.runId === undefined) throw new Error("nothing has been launched yet");
  return state.runId;
}
