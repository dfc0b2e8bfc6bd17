import type { Command } from "@commander-js/extra-typings";
import { recordedEnd } from "../../store/audit/audit.ts";
import type { CliSession } from "../client/session.ts";
import { printable } from "../terminal/text.ts";
import { businessIds } from "./audited-ids.ts";
import { withStore } from "./with-store.ts";

/** `payrun audit head`: the ends of the trails, to be kept elsewhere. */
export function addAuditHeadCommand(audit: Command, session: CliSession): void {
  audit
    .command("head")
    .description(
      "print the end of each trail: kept elsewhere, it shows later whether entries were cut off",
    )
    .option("--business <name>", "only this one, by its name or id")
    .option("--json", "print one JSON document")
    .action((options) =>
      session.run(options, async ({ output, config }) => {
        const settings = config();
        const items = await withStore(settings, async (store) => {
          const ids = await businessIds(settings, store, options.business);
          const ends = ids.map(async (id) => {
            const end = await recordedEnd(store.db, id);
            if (end === undefined) return [];
            const business = settings.profiles.byBusinessId(id)?.name ?? id;
            const { entries, hash, atMs } = end;
            return [{ business, businessId: id, entries, hash, at: new Date(atMs).toISOString() }];
          });
          return (await Promise.all(ends)).flat();
        });
        for (const { business, entries, hash, at } of items) {
          output.line([printable(business), entries, hash, at].join("\t"));
        }
        if (items.length === 0) output.note("There is no trail yet.");
        output.document({ items });
      }),
    );
}
