/**
 * A gateway's limits for one caller and for all callers together. Rates are in requests per second.
 */
export interface GatewayLimits {
  readonly connections: number;
  /**
   * Addresses and networks of the proxies whose `X-Forwarded-For` header is trusted to name the
   * caller's address.
   */
  readonly trustedProxies: readonly string[];
  readonly connectionsPerAddress: number;
  readonly ratePerToken: number;
  readonly ratePerAddress: number;
  /**
   * Rate for one business's webhook endpoint from one address, so that another sender can't use up
   * the service's share.
   */
  readonly webhookRate: number;
  /** Time for a request's headers to arrive. */
  readonly headersTimeoutMs: number;
  /** Time for the whole request to arrive. */
  readonly requestTimeoutMs: number;
}
