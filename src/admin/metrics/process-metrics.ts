/** The metrics that every program of this kind has, `process_…` and `nodejs_…`: one set for the process, begun when first asked for. */
import { collectDefaultMetrics, Registry } from 'prom-client';

let registry: Registry | undefined;

/** In the Prometheus text format. */
export function processMetrics(): Promise<string> {
  if (!registry) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry.metrics();
}
