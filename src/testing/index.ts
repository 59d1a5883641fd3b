/**
 * millrace/testing: virtual time, streams fed and read by hand, and what fast-check may draw. The public names, no logic.
 */

export { arbitrary } from './arbitrary.js';
export { captured } from './captured.js';
export type { Fault } from './fault.js';
export { feeder } from './feeder.js';
export type { Input, Timed } from './input.js';
export { assertLaws, type Laws } from './laws.js';
export { type ProcessorRuleOptions, processorRules } from './processorRules.js';
export { type PublisherRuleOptions, publisherRules } from './publisherRules.js';
export type { Rule, RuleOptions } from './rules.js';
export { type SimulateOptions, type Simulation, simulate } from './simulate.js';
export { type SubscriberProbe, subscriberRules } from './subscriberRules.js';
export { type TestClock, testClock } from './testClock.js';
export { testRuntime } from './testRuntime.js';
