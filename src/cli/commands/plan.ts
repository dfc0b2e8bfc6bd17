import type { Command } from "@commander-js/extra-typings";

import { gatewayOf } from "../client/gateway-client.ts";
import { printPlan } from "../show/plan-document.ts";
import { playbookToPlan } from "./playbook-files.ts";
import type { Session } from "../client/session.ts";
import { everyLine, PlanDigest, skippedCounts } from "../show/plan.ts";
import { dim } from "../terminal/text.ts";

export function addPlanCommand(program: Command, session: Session): void {
  program
    .command("plan")
    .description("show what a launch would pay now, and why each bill is in or out; pays nothing")
    .argument("<playbook>", "a stored playbook's name, or a file, which is not stored")
    .option("--period <date>", "the period to plan for, YYYY-MM-DD")
    .option("--summary", "totals and oddities only")
    .option("--business <name>", "needed only where several have a playbook of that name")
    .option("--json", "print one JSON document")
    .action((nameOrFile, options) =>
      session.run(options, async ({ output, config }) => {
        const gateway = gatewayOf(config());
        const { period, business } = options;
        const plan = await gateway.plan({
          ...(await playbookToPlan(nameOrFile)),
          ...(period === undefined ? {} : { period }),
          ...(business === undefined ? {} : { business }),
        });
        output.line(dim(`${plan.playbook}, ${plan.business}, period ${plan.period}`));
        const digest = new PlanDigest();
        for await (const { lines } of gateway.planPages(plan)) digest.add(lines);
        output.lines(digest.totals(plan));
        output.lines(digest.oddLines());
        output.lines(skippedCounts(plan));
        if (options.summary === undefined) {
          for await (const page of gateway.planPages(plan)) output.lines(["", ...everyLine(page)]);
        }
        await printPlan(output, gateway, plan);
      }),
    );
}
