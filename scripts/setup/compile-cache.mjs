import module from "node:module";
import { join } from "node:path";
import process from "node:process";

/**
 * Keeps compiled code beside the packages, also of the processes that this one starts: they start
 * in half the CPU time, since types are stripped and code is compiled once. Where the folder can't
 * be written, Node goes on without. `NODE_COMPILE_CACHE` names another folder.
 *
 * @param {string} root the checkout
 */
export function keepCompiledCode(root) {
  const folder = (process.env["NODE_COMPILE_CACHE"] ??= join(
    root,
    "node_modules",
    ".cache",
    "compiled",
  ));
  module.enableCompileCache?.(folder);
}
