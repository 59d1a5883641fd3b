import { expect, test } from 'vitest';
import { ringReader, ringWriter } from '../../runtime/channel.js';
import { giveRing, takeRing } from '../../runtime/rings.js';
import { silent } from './fixtures/channels.js';

const bytes = 64 * 1024;

test('a ring that was given back is taken again, empty and open, with a new generation', () => {
  const first = takeRing(bytes);
  const writer = ringWriter(first.memory, silent);
  for (let i = 0; i < 3; i++) {
    writer.reserve(100)?.fill(1);
    writer.commit(100);
  }
  writer.end();
  const reader = ringReader(first.memory, silent);
  expect(reader.next()).toBeDefined();
  reader.release();
  reader.finish();
  giveRing(first);
  const second = takeRing(bytes);
  expect(second.memory).toBe(first.memory);
  expect(second.generation).not.toBe(first.generation);
  const [nextWriter, nextReader] = [ringWriter(second.memory, silent), ringReader(second.memory, silent)];
  expect([nextReader.next(), nextReader.ended, nextWriter.finished, nextWriter.fill]).toEqual([
    undefined,
    false,
    false,
    0,
  ]);
});

test('rings of other sizes, and those in use, are not taken', () => {
  const [one, other] = [takeRing(bytes), takeRing(bytes)];
  expect(one.memory).not.toBe(other.memory);
  giveRing(one);
  const larger = takeRing(2 * bytes);
  expect(larger.memory.byteLength).toBeGreaterThan(one.memory.byteLength);
  expect(takeRing(bytes).memory).toBe(one.memory);
});

test('law: no generation is used twice', () => {
  const seen = new Set<number>();
  for (let i = 0; i < 100; i++) {
    const ring = takeRing(bytes);
    expect(seen.has(ring.generation)).toBe(false);
    seen.add(ring.generation);
    giveRing(ring);
  }
});

test('no more than 64 MiB are kept', () => {
  const large = 16 * 1024 * 1024;
  const rings = Array.from({ length: 6 }, () => takeRing(large));
  for (const ring of rings) giveRing(ring);
  const again = Array.from({ length: 6 }, () => takeRing(large).memory);
  const kept = again.filter((memory) => rings.some((ring) => ring.memory === memory));
  expect(kept.length).toBeGreaterThan(0);
  expect(kept.length).toBeLessThanOrEqual(4);
});
