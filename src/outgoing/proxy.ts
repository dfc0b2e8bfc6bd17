export { proxyFor, proxyForTemporal, unknownExceptions } from "../../scripts/setup/proxy.mjs";
