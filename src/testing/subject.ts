/** What the rules of publishers are checked on, and the form of their checks. No behaviour. */

import type { Publisher } from '../edges/publisher.js';
import type { Exam, RuleId } from './rules.js';

export interface Subject {
  make(elements: number): Publisher<unknown>;
  readonly failed: (() => Publisher<unknown>) | undefined;
  readonly maxElements: number;
}

export type Checks = readonly (readonly [id: RuleId, examine: (exam: Exam, subject: Subject) => Promise<void>])[];
