import { randomUUID } from "node:crypto";
import { Client, Connection, type WorkflowHandle } from "@temporalio/client";
import { NativeConnection, Worker } from "@temporalio/worker";
import { expect, inject, test } from "vitest";
import { z } from "zod";
import { HANDLES, MASS_QUEUE, TASK_QUEUE } from "../../src/contracts/names.ts";
import { WORKFLOW_KINDS } from "../../src/contracts/workflow-kinds.ts";
import { takeNamespace } from "../support/take-namespace.ts";

const namespace = takeNamespace();

const Definitions = z.array(z.object({ name: z.string(), description: z.string().optional() }));
const Metadata = z.object({
  definition: z.object({
    queryDefinitions: Definitions,
    signalDefinitions: Definitions,
    updateDefinitions: Definitions,
  }),
});

/** Returns what Temporal's UI says of a workflow's handlers. */
async function described(handle: WorkflowHandle): Promise<Record<string, unknown>[]> {
  const { definition } = Metadata.parse(await handle.query("__temporal_workflow_metadata"));
  const { queryDefinitions: queries, signalDefinitions: signals } = definition;
  const own = queries.filter(({ name }) => !name.startsWith("__"));
  return [own, signals, definition.updateDefinitions].map((some) =>
    Object.fromEntries(some.map(({ name, description }) => [name, description])),
  );
}

test("every query, signal and update of every kind of workflow says what it does", async () => {
  const address = inject("temporalAddress");
  const connection = await Connection.connect({ address });
  const native = await NativeConnection.connect({ address });
  const client = new Client({ connection, namespace });
  const workflowBundle = { codePath: inject("workflowBundlePath") };
  const queues = [TASK_QUEUE, ...Object.values(MASS_QUEUE)];
  const workers = await Promise.all(
    queues.map((taskQueue) =>
      Worker.create({ connection: native, namespace, taskQueue, workflowBundle }),
    ),
  );
  const served = workers.map((worker) => worker.run());
  try {
    // Activities are never answered: a workflow has its handlers before its first look.
    for (const kind of Object.values(WORKFLOW_KINDS)) {
      const workflowId = `described-${randomUUID()}`;
      const { workflow, taskQueue } = kind;
      const handle = await client.workflow.start(workflow, { workflowId, taskQueue, args: [{}] });
      const { eventsArrived, decide } = HANDLES.signal;
      const decides = kind === WORKFLOW_KINDS.payRun;
      expect(await described(handle), workflow).toEqual([
        HANDLES.query,
        decides ? { eventsArrived, decide } : { eventsArrived },
        decides ? HANDLES.update : {},
      ]);
      await handle.terminate();
    }
  } finally {
    for (const worker of workers) worker.shutdown();
    await Promise.all(served);
    await connection.close();
    await native.close();
  }
});
