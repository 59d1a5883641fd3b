/**
 * The menu: every non-deprecated operator of RxJS 7.8 under its own name and type, and ours (ours.ts).
 * One line an operator, with its traits; those with a kernel run as steps of the loop, the others are opaque.
 * Creation functions (merge, concat, of…) stay in 'rxjs'.
 */

import * as rx from 'rxjs';
import { bufferCountKernel } from './bufferCount.js';
import { countKernel } from './count.js';
import { defaultIfEmptyKernel, isEmptyKernel, throwIfEmptyKernel } from './defaultIfEmpty.js';
import { distinctLowering } from './distinct.js';
import { distinctUntilChangedKernel, distinctUntilKeyChangedKernel } from './distinctUntilChanged.js';
import { everyLowering, findIndexLowering, findLowering } from './every.js';
import { filterKernel } from './filter.js';
import { elementAtKernel, firstLowering } from './first.js';
import { ignoreElementsKernel } from './ignoreElements.js';
import { lastLowering } from './last.js';
import { define } from './lowered.js';
import { mapKernel } from './map.js';
import { maxKernel, minKernel } from './max.js';
import { concatAllKernel, concatMapLowering, mergeAllKernel, mergeMapLowering } from './mergeMap.js';
import { pairwiseKernel } from './pairwise.js';
import { reduceKernel } from './reduce.js';
import { scanKernel } from './scan.js';
import { skipKernel } from './skip.js';
import { skipLastKernel } from './skipLast.js';
import { skipWhileKernel } from './skipWhile.js';
import { endWithLowering, startWithLowering } from './startWith.js';
import { takeKernel } from './take.js';
import { takeLastKernel } from './takeLast.js';
import { takeWhileKernel } from './takeWhile.js';
import { tapKernel } from './tap.js';
import { toArrayKernel } from './toArray.js';
import { lets, streamScoped, valueScoped } from './traits.js';

export * from './ours.js';
export { perExecutor } from './perExecutor.js';
export { pipe } from './pipe.js';

// RxJS: each has the documentation, the type and, on an ordinary Observable, the behaviour of the operator it stands for.

export const audit: typeof rx.audit = define(rx.audit, streamScoped('audit', { holds: true }));
export const auditTime: typeof rx.auditTime = define(
  rx.auditTime,
  streamScoped('auditTime', { timed: true, holds: true }),
);
export const buffer: typeof rx.buffer = define(rx.buffer, streamScoped('buffer', { holds: true }));
export const bufferCount: typeof rx.bufferCount = define(
  rx.bufferCount,
  streamScoped('bufferCount', { holds: true }),
  bufferCountKernel,
);
export const bufferTime: typeof rx.bufferTime = define(
  rx.bufferTime,
  streamScoped('bufferTime', { timed: true, holds: true }),
);
export const bufferToggle: typeof rx.bufferToggle = define(
  rx.bufferToggle,
  streamScoped('bufferToggle', { holds: true }),
);
export const bufferWhen: typeof rx.bufferWhen = define(rx.bufferWhen, streamScoped('bufferWhen', { holds: true }));
export const catchError: typeof rx.catchError = define(rx.catchError, streamScoped('catchError'));
export const combineLatestAll: typeof rx.combineLatestAll = define(
  rx.combineLatestAll,
  streamScoped('combineLatestAll', { holds: true }),
);
export const combineLatestWith: typeof rx.combineLatestWith = define(
  rx.combineLatestWith,
  streamScoped('combineLatestWith', { holds: true }),
);
export const concatAll: typeof rx.concatAll = define(rx.concatAll, valueScoped('concatAll'), concatAllKernel);
export const concatMap: typeof rx.concatMap = define(rx.concatMap, valueScoped('concatMap'), concatMapLowering, 2);
export const concatWith: typeof rx.concatWith = define(rx.concatWith, streamScoped('concatWith'));
export const connect: typeof rx.connect = define(rx.connect, streamScoped('connect'));
export const count: typeof rx.count = define(
  rx.count,
  streamScoped('count', { endEmits: true, byKey: 'countByKey' }),
  countKernel,
);
export const debounce: typeof rx.debounce = define(rx.debounce, streamScoped('debounce', { holds: true }));
export const debounceTime: typeof rx.debounceTime = define(
  rx.debounceTime,
  streamScoped('debounceTime', { timed: true, holds: true }),
);
export const defaultIfEmpty: typeof rx.defaultIfEmpty = define(
  rx.defaultIfEmpty,
  streamScoped('defaultIfEmpty', { endEmits: true }),
  defaultIfEmptyKernel,
);
export const delay: typeof rx.delay = define(rx.delay, streamScoped('delay', { timed: true, holds: true }));
export const delayWhen: typeof rx.delayWhen = define(rx.delayWhen, streamScoped('delayWhen', { holds: true }));
export const dematerialize: typeof rx.dematerialize = define(rx.dematerialize, streamScoped('dematerialize'));
export const distinct: typeof rx.distinct = define(
  rx.distinct,
  streamScoped('distinct', { byKey: 'distinctByKey' }),
  distinctLowering,
);
export const distinctUntilChanged: typeof rx.distinctUntilChanged = define(
  rx.distinctUntilChanged,
  streamScoped('distinctUntilChanged'),
  distinctUntilChangedKernel,
);
export const distinctUntilKeyChanged: typeof rx.distinctUntilKeyChanged = define(
  rx.distinctUntilKeyChanged,
  streamScoped('distinctUntilKeyChanged'),
  distinctUntilKeyChangedKernel,
);
export const elementAt: typeof rx.elementAt = define(
  rx.elementAt,
  streamScoped('elementAt', { endEmits: true }),
  elementAtKernel,
);
export const endWith: typeof rx.endWith = define(
  rx.endWith,
  streamScoped('endWith', { endEmits: true, onSeveral: (n) => `emit its values ${n} times` }),
  endWithLowering,
);
export const every: typeof rx.every = define(rx.every, streamScoped('every', { endEmits: true }), everyLowering);
export const exhaustAll: typeof rx.exhaustAll = define(rx.exhaustAll, streamScoped('exhaustAll'));
export const exhaustMap: typeof rx.exhaustMap = define(rx.exhaustMap, streamScoped('exhaustMap'));
export const expand: typeof rx.expand = define(rx.expand, streamScoped('expand'));
export const filter: typeof rx.filter = define(rx.filter, valueScoped('filter'), filterKernel, 2);
export const finalize: typeof rx.finalize = define(rx.finalize, streamScoped('finalize'));
export const find: typeof rx.find = define(rx.find, streamScoped('find', { endEmits: true }), findLowering);
export const findIndex: typeof rx.findIndex = define(
  rx.findIndex,
  streamScoped('findIndex', { endEmits: true }),
  findIndexLowering,
);
export const first: typeof rx.first = define(
  rx.first,
  streamScoped('first', { endEmits: true, onSeveral: lets(() => 1) }),
  firstLowering,
);
export const groupBy: typeof rx.groupBy = define(rx.groupBy, streamScoped('groupBy'));
export const ignoreElements: typeof rx.ignoreElements = define(
  rx.ignoreElements,
  valueScoped('ignoreElements'),
  ignoreElementsKernel,
);
export const isEmpty: typeof rx.isEmpty = define(
  rx.isEmpty,
  streamScoped('isEmpty', { endEmits: true }),
  isEmptyKernel,
);
export const last: typeof rx.last = define(rx.last, streamScoped('last', { endEmits: true }), lastLowering);
export const map: typeof rx.map = define(rx.map, valueScoped('map'), mapKernel, 2);
export const materialize: typeof rx.materialize = define(rx.materialize, streamScoped('materialize'));
export const max: typeof rx.max = define(rx.max, streamScoped('max', { endEmits: true }), maxKernel);
export const mergeAll: typeof rx.mergeAll = define(rx.mergeAll, valueScoped('mergeAll'), mergeAllKernel);
export const mergeMap: typeof rx.mergeMap = define(rx.mergeMap, valueScoped('mergeMap'), mergeMapLowering, 2);
export const mergeScan: typeof rx.mergeScan = define(rx.mergeScan, streamScoped('mergeScan'));
export const mergeWith: typeof rx.mergeWith = define(rx.mergeWith, streamScoped('mergeWith'));
export const min: typeof rx.min = define(rx.min, streamScoped('min', { endEmits: true }), minKernel);
export const observeOn: typeof rx.observeOn = define(rx.observeOn, streamScoped('observeOn', { timed: true }));
export const onErrorResumeNextWith: typeof rx.onErrorResumeNextWith = define(
  rx.onErrorResumeNextWith,
  streamScoped('onErrorResumeNextWith'),
);
export const pairwise: typeof rx.pairwise = define(
  rx.pairwise,
  streamScoped('pairwise', { holds: true }),
  pairwiseKernel,
);
export const raceWith: typeof rx.raceWith = define(rx.raceWith, streamScoped('raceWith'));
export const reduce: typeof rx.reduce = define(
  rx.reduce,
  streamScoped('reduce', { endEmits: true, byKey: 'reduceByKey' }),
  reduceKernel,
);
export const repeat: typeof rx.repeat = define(rx.repeat, streamScoped('repeat'));
export const retry: typeof rx.retry = define(rx.retry, streamScoped('retry'));
export const sample: typeof rx.sample = define(rx.sample, streamScoped('sample', { holds: true }));
export const sampleTime: typeof rx.sampleTime = define(
  rx.sampleTime,
  streamScoped('sampleTime', { timed: true, holds: true }),
);
export const scan: typeof rx.scan = define(rx.scan, streamScoped('scan', { byKey: 'scanByKey' }), scanKernel);
export const sequenceEqual: typeof rx.sequenceEqual = define(
  rx.sequenceEqual,
  streamScoped('sequenceEqual', { endEmits: true }),
);
export const share: typeof rx.share = define(rx.share, streamScoped('share'));
export const shareReplay: typeof rx.shareReplay = define(rx.shareReplay, streamScoped('shareReplay'));
export const single: typeof rx.single = define(rx.single, streamScoped('single', { endEmits: true }));
export const skip: typeof rx.skip = define(rx.skip, streamScoped('skip'), skipKernel);
export const skipLast: typeof rx.skipLast = define(
  rx.skipLast,
  streamScoped('skipLast', { holds: true }),
  skipLastKernel,
);
export const skipUntil: typeof rx.skipUntil = define(rx.skipUntil, streamScoped('skipUntil'));
export const skipWhile: typeof rx.skipWhile = define(rx.skipWhile, streamScoped('skipWhile'), skipWhileKernel);
export const startWith: typeof rx.startWith = define(
  rx.startWith,
  streamScoped('startWith', { startEmits: true, onSeveral: (n) => `emit its values ${n} times` }),
  startWithLowering,
);
export const subscribeOn: typeof rx.subscribeOn = define(rx.subscribeOn, streamScoped('subscribeOn', { timed: true }));
export const switchAll: typeof rx.switchAll = define(rx.switchAll, streamScoped('switchAll'));
export const switchMap: typeof rx.switchMap = define(rx.switchMap, streamScoped('switchMap'));
export const switchScan: typeof rx.switchScan = define(rx.switchScan, streamScoped('switchScan'));
export const take: typeof rx.take = define(rx.take, streamScoped('take', { onSeveral: lets((n) => n) }), takeKernel);
export const takeLast: typeof rx.takeLast = define(
  rx.takeLast,
  streamScoped('takeLast', { endEmits: true, holds: true }),
  takeLastKernel,
);
export const takeUntil: typeof rx.takeUntil = define(rx.takeUntil, streamScoped('takeUntil'));
export const takeWhile: typeof rx.takeWhile = define(rx.takeWhile, streamScoped('takeWhile'), takeWhileKernel);
export const tap: typeof rx.tap = define(rx.tap, valueScoped('tap'), tapKernel);
export const throttle: typeof rx.throttle = define(rx.throttle, streamScoped('throttle', { holds: true }));
export const throttleTime: typeof rx.throttleTime = define(
  rx.throttleTime,
  streamScoped('throttleTime', { timed: true, holds: true }),
);
export const throwIfEmpty: typeof rx.throwIfEmpty = define(
  rx.throwIfEmpty,
  streamScoped('throwIfEmpty'),
  throwIfEmptyKernel,
);
export const timeInterval: typeof rx.timeInterval = define(rx.timeInterval, streamScoped('timeInterval'));
export const timeout: typeof rx.timeout = define(rx.timeout, streamScoped('timeout', { timed: true }));
export const timestamp: typeof rx.timestamp = define(rx.timestamp, streamScoped('timestamp'));
export const toArray: typeof rx.toArray = define(
  rx.toArray,
  streamScoped('toArray', { endEmits: true }),
  toArrayKernel,
);
export const window: typeof rx.window = define(rx.window, streamScoped('window', { holds: true }));
export const windowCount: typeof rx.windowCount = define(rx.windowCount, streamScoped('windowCount', { holds: true }));
export const windowTime: typeof rx.windowTime = define(
  rx.windowTime,
  streamScoped('windowTime', { timed: true, holds: true }),
);
export const windowToggle: typeof rx.windowToggle = define(
  rx.windowToggle,
  streamScoped('windowToggle', { holds: true }),
);
export const windowWhen: typeof rx.windowWhen = define(rx.windowWhen, streamScoped('windowWhen', { holds: true }));
export const withLatestFrom: typeof rx.withLatestFrom = define(
  rx.withLatestFrom,
  streamScoped('withLatestFrom', { holds: true }),
);
export const zipAll: typeof rx.zipAll = define(rx.zipAll, streamScoped('zipAll', { holds: true }));
export const zipWith: typeof rx.zipWith = define(rx.zipWith, streamScoped('zipWith', { holds: true }));
