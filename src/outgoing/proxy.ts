export { proxyFor, proxyForTemporal } from "../../scripts/setup/proxy.mjs";
