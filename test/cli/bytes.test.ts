import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { openBytes } from '../../src/cli/bytes.js';

const folder = mkdtempSync(join(tmpdir(), 'millrace-bytes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function read(path: string): Promise<Buffer> {
  const bytes = openBytes(path);
  const chunks: Uint8Array[] = [];
  for (let chunk = await bytes.next(); chunk !== undefined; chunk = await bytes.next()) chunks.push(chunk);
  expect(bytes.readBytes).toBe(bytes.totalBytes);
  bytes.close();
  return Buffer.concat(chunks);
}

const broken = (message: string) =>
  expect.objectContaining({ code: 'ERR_SOURCE', message: expect.stringContaining(message) });

describe('bytes', () => {
  const large = Buffer.from(Array.from({ length: 200_000 }, (_, i) => `${i * 7919}`).join());

  test('a file as it is, whatever its size', async () => {
    for (const content of [large, Buffer.alloc(0), Buffer.of(0x1f)])
      expect((await read(file('plain', content))).equals(content)).toBe(true);
  });

  test('gzip is known by its first bytes or its name; members follow one another', async () => {
    const members = Buffer.concat([gzipSync(large), gzipSync('b'), gzipSync(''), gzipSync(large)]);
    const whole = Buffer.concat([large, Buffer.from('b'), large]);
    expect((await read(file('members.gz', members))).equals(whole)).toBe(true);
    expect((await read(file('members', members))).equals(whole)).toBe(true);
  });

  test('gzip that is cut off, broken, followed by something else or only named so is an error', async () => {
    const member = gzipSync(large);
    await expect(read(file('cut.gz', member.subarray(0, -6)))).rejects.toEqual(
      broken('cut.gz cannot be read: its gzip data is cut off'),
    );
    await expect(read(file('half.gz', Buffer.concat([member, member.subarray(0, 9)])))).rejects.toEqual(
      broken('its gzip data is cut off'),
    );
    await expect(read(file('empty.gz', ''))).rejects.toEqual(broken('its gzip data is cut off'));
    await expect(read(file('text.gz', 'text'))).rejects.toEqual(
      broken('its gzip data is broken: incorrect header check'),
    );
    await expect(read(file('more.gz', Buffer.concat([member, Buffer.from('more')])))).rejects.toEqual(
      broken('its gzip data is broken'),
    );
    const padded = Buffer.concat([member, Buffer.alloc(3), member]);
    await expect(read(file('padded.gz', padded))).rejects.toEqual(broken('bytes follow its last gzip member'));
    const flipped = Buffer.from(member);
    flipped[flipped.length - 7] = (flipped[flipped.length - 7] as number) ^ 1;
    await expect(read(file('flipped.gz', flipped))).rejects.toEqual(
      broken('its gzip data is broken: incorrect data check'),
    );
  });

  test('what is no file is bad usage; a file that is let go of has ended', async () => {
    expect(() => openBytes(join(folder, 'none'))).toThrow('there is no such file');
    expect(() => openBytes(folder)).toThrow('is a folder');
    const bytes = openBytes(file('left', large));
    expect((await bytes.next())?.length).toBeGreaterThan(0);
    bytes.close();
    expect(await bytes.next()).toBeUndefined();
  });
});
