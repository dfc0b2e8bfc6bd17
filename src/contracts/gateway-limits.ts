/** A gateway's limits for one caller and for all of them together; rates are requests a second. */
export interface GatewayLimits {
  readonly connections: number;
  /** Addresses and networks of proxies whose `X-Forwarded-For` says whose address counts. */
  readonly trustedProxies: readonly string[];
  readonly connectionsPerAddress: number;
  readonly ratePerToken: number;
  readonly ratePerAddress: number;
  /**
   * For one business's endpoint, from one address: another sender can't use up the service's share.
   */
  readonly webhookRate: number;
  /** Time for a request's headers to arrive. */
  readonly headersTimeoutMs: number;
  /** Time for the whole request to arrive. */
  readonly requestTimeoutMs: number;
}
