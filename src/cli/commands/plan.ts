import type { Command } from "@commander-js/extra-typings";

import { definedOnly } from "../../contracts/defined-only.ts";
import { gatewayOf } from "../client/gateway-client.ts";
import { printPlan } from "../show/plan-document.ts";
import { orExample, playbookToPlan } from "./playbook-files.ts";
import type { CliSession } from "../client/session.ts";
import { paidBills, leftOutBills, PlanDigest, skippedCounts } from "../show/plan.ts";
import { usageError } from "../terminal/cli-error.ts";
import { dim, fitting } from "../terminal/text.ts";

export function addPlanCommand(program: Command, session: CliSession): void {
  program
    .command("plan")
    .description("show what a launch would pay now, and why each bill is in or out; pays nothing")
    .argument("<playbook>", "a stored playbook's name, or a file, which is not stored")
    .option("--period <date>", "the period to plan for, YYYY-MM-DD")
    .option("--all", "also list each bill that is left out, and why")
    .option("--summary", "totals and oddities only")
    .option("--business <name>", "needed only if several businesses have a playbook of that name")
    .option("--json", "print one JSON document")
    .action((nameOrFile, options) =>
      session.run(options, async ({ output, config }) => {
        if (options.all === true && options.summary === true) {
          throw usageError("--all and --summary can't go together");
        }
        const gateway = gatewayOf(config());
        const { period, business } = options;
        const asked = {
          ...(await playbookToPlan(nameOrFile)),
          ...definedOnly({ period, business }),
        };
        const plan = await orExample(nameOrFile, "plan", () => gateway.plan(asked));
        output.line(dim(`${plan.playbook}, ${plan.business}, period ${plan.period}`));
        const digest = new PlanDigest();
        for await (const page of gateway.planPages(plan)) {
          digest.add(page.lines);
          if (options.summary === true || output.json) continue;
          output.lines([...paidBills(page), ...(options.all === true ? leftOutBills(page) : [])]);
        }
        // The important part comes last, where the reader looks when the command has ended.
        output.lines(digest.oddLines());
        output.lines(fitting(skippedCounts(plan)));
        if (Object.keys(plan.skippedByCode).length > 0 && options.all === undefined) {
          output.line(dim("  --all lists them"));
        }
        output.lines(fitting(digest.totals(plan)));
        await printPlan(output, gateway, plan);
      }),
    );
}
