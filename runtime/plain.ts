/**
 * Plain objects and plain arrays, of this realm or another one.
 * Owns the test. Never looks at what is in them.
 */

/** Arrays and plain objects made in another realm (a vm context) are as good as ours. */
export function isForeignArrayPrototype(prototype: unknown): boolean {
  return Array.isArray(prototype) && isForeignObjectPrototype(Object.getPrototypeOf(prototype));
}

export function isForeignObjectPrototype(prototype: unknown): boolean {
  if (typeof prototype !== 'object' || prototype === null) return false;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf');
}

/** Whether this is a plain object or a plain array, of any realm. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) return prototype === Array.prototype || isForeignArrayPrototype(prototype);
  return prototype === Object.prototype || isForeignObjectPrototype(prototype);
}
