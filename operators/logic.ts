/**
 * One build of a topology, read, checked and ready to run: the runtime's `Logic`.
 * Owns the recording and its graph. Built once on the caller's thread to plan, and once per executor.
 */

import type { Observable } from 'rxjs';
import { codecOf } from '../runtime/codec.js';
import { isMillraceError, located, MillraceError } from '../runtime/errors.js';
import type { Logic } from '../runtime/logic.js';
import { Flow, recordBuild } from './flow.js';
import { graphOf, outputsOf } from './graph.js';
import { planOf } from './planOf.js';
import { SegmentProgram } from './program.js';
import { callSite, Recording, type Sites, siteIn } from './recording.js';
import { checkScopes } from './scope.js';

/**
 * Runs `build` on a recording and reads what it left. Throws every refusal of the plan. `sites` are those of the same build with
 * the same arguments, which is made once per executor; the first one fills them.
 */
export function logicOf(topology: string, build: (input: Observable<never>) => unknown, sites: Sites = []): Logic {
  try {
    return read(topology, build, sites);
  } catch (reason) {
    throw isMillraceError(reason) ? located(reason, { topology, at: siteIn(reason.stack) ?? callSite() }) : reason;
  }
}

function read(topology: string, build: (input: Observable<never>) => unknown, sites: Sites): Logic {
  const recording = new Recording(sites);
  const built = recordBuild(recording, build);
  // What an async build comes to is of no interest: it is refused, and its rejection would end the process.
  if (built instanceof Promise) built.catch(() => {});
  // The user's code may have swallowed the error; the plan is wrong all the same.
  if (recording.fault !== undefined) throw recording.fault;
  if (built instanceof Promise)
    throw new MillraceError(
      'ERR_FLOW_LOST',
      'build returned a promise: build must not be async. Await before topology(), pass data in args, or read it by pull()',
    );
  const outputs = outputsOf(recording, built);
  const graph = graphOf(recording, outputs);
  checkScopes(graph, topology);
  return {
    plan: planOf(topology, graph),
    single: Flow.nodeOf(built) !== undefined,
    route: (exchange) => graph.exchanges[exchange]?.fn,
    codec: (exchange) => codecOf(graph.exchanges[exchange]?.options.codec),
    program: (segment, outlets, host, options) => new SegmentProgram(graph, segment, outlets, host, options),
    feed(segment, wake) {
      const head = graph.segments[segment]?.head;
      return head?.kind === 'pull' ? head.feed(wake) : undefined;
    },
  };
}
