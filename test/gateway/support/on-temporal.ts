import { Client } from "@temporalio/client";
import { afterAll, afterEach, beforeAll, beforeEach, inject } from "vitest";
import { lazyConnection } from "../../../src/temporal/connection.ts";
import { takeNamespace } from "../../support/take-namespace.ts";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "./gateway.ts";

/** A gateway for each test, on a namespace of Temporal without workers. */
export interface OnTemporal {
  readonly address: string;
  readonly namespace: string;
  readonly client: Client;
  readonly gateway: TestGateway;
}

/** Starts a gateway before each test of a file, and stops it afterwards. */
export function useGatewayOnTemporal(options: TestGatewayOptions = {}): OnTemporal {
  const address = inject("temporalAddress");
  let namespace: string;
  let client: Client;
  let gateway: TestGateway;
  beforeAll(() => {
    namespace = takeNamespace();
    client = new Client({ connection: lazyConnection({ address }), namespace });
  });
  afterAll(() => client.connection.close());
  beforeEach(async () => {
    gateway = await startTestGateway({ ...options, temporalAddress: address, namespace });
  });
  afterEach(() => gateway.stop());
  return {
    address,
    get namespace() {
      return namespace;
    },
    get client() {
      return client;
    },
    get gateway() {
      return gateway;
    },
  };
}
