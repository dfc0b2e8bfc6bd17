import { usageFault } from "../test/support/arguments.ts";

/** A benchmark: measures, prints its figures, leaves nothing running. */
type Benchmark = (args: readonly string[]) => Promise<void>;

/** Each is loaded only when it is run, so that none pays for another's imports. */
const benchmarks: Readonly<Record<string, () => Promise<{ main: Benchmark }>>> = {
  bounce: () => import("./bounce/main.ts"),
  console: () => import("./console/main.ts"),
  neighbours: () => import("./neighbours/main.ts"),
  reads: () => import("./reads/main.ts"),
  replan: () => import("./replan/main.ts"),
  run: () => import("./run/main.ts"),
  sandbox: () => import("./sandbox/main.ts"),
  webhooks: () => import("./webhooks/main.ts"),
};

const [name = "", ...args] = process.argv.slice(2);
const load = Object.hasOwn(benchmarks, name) ? benchmarks[name] : undefined;

if (load === undefined) {
  const names = Object.keys(benchmarks).join(", ");
  process.stderr.write(
    `bench: "${name}" is no benchmark; npm run bench -- NAME, one of ${names}\n`,
  );
  process.exitCode = 2;
} else {
  const { main } = await load();
  try {
    await main(args);
  } catch (error) {
    const fault = usageFault(error);
    if (fault === undefined) throw error;
    process.stderr.write(`bench ${name}: ${fault}\n`);
    process.exitCode = 2;
  }
}
