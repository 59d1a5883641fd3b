/**
 * `millrace describe`: the plan of a topology as text.
 * Owns nothing.
 */

import type { DescribeCall } from './invocation.js';
import { loadTarget } from './target.js';

export async function describe({ module, exported, options, format }: DescribeCall): Promise<string> {
  const { applicable } = await loadTarget(module, exported);
  const plan = applicable.describe(options);
  if (format === 'json') return JSON.stringify(plan, null, 2);
  return format === 'mermaid' ? plan.toMermaid() : plan.toString();
}
