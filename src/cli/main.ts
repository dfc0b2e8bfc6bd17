import { runCli } from "./program.ts";
import { assumeColumns } from "./terminal/text.ts";

// `payrun report … | head` closes the pipe early: that is no fault.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

for (const stream of [process.stdout, process.stderr]) assumeColumns(stream);

const code = await runCli(process.argv.slice(2));
// A slow reader of a pipe has not got everything yet, and leaving now would cut it off.
for (const stream of [process.stdout, process.stderr]) {
  if (stream.writableLength > 0) await new Promise((resolve) => stream.write("", resolve));
}
// Work that Ctrl-C has cut off may still hold timers and sockets.
process.exit(code);
