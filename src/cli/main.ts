import { runCli } from "./program.ts";
import { assumeColumns } from "./terminal/text.ts";

// `payrun report … | head` closes the pipe early, which is not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

for (const stream of [process.stdout, process.stderr]) assumeColumns(stream);

const code = await runCli(process.argv.slice(2));
// A slow reader of a pipe hasn't received everything yet, and exiting now would cut it off.
for (const stream of [process.stdout, process.stderr]) {
  if (stream.writableLength > 0) await new Promise((resolve) => stream.write("", resolve));
}
// Work that Ctrl-C interrupted may still hold timers and sockets.
process.exit(code);
