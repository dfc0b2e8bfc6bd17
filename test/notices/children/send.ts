import { Clients } from "../../../src/business/clients.ts";
import type { BusinessProfile } from "../../../src/config/business-profile.ts";
import { startNoticeSender } from "../../../src/notices/sender.ts";
import { openStore } from "../../../src/store/open.ts";

const { databaseUrl, profile } = JSON.parse(process.argv[2] ?? "") as {
  databaseUrl: string;
  profile: BusinessProfile;
};
const store = await openStore(databaseUrl, { mustExist: true });
const clients = new Clients({ connections: 2, timeoutMs: 30_000 });
startNoticeSender({
  publicUrl: () => "https://payrun.example",
  store,
  profiles: { byBusinessId: () => profile },
  clientOf: (each) => clients.of(each),
  log: { warn: () => undefined },
  nowMs: Date.now,
});
// Exits with its parent, if it isn't killed first.
process.once("disconnect", () => process.exit(0));
