import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { codes } from '../../runtime/errors.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const files = readdirSync(`${root}/test`, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.test.ts') && !file.endsWith('codes.test.ts'),
);

/** What a file compares with: its literals, without comments and the titles of its tests. */
function literals(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(`${root}/test/${file}`, 'utf8'), ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isRegularExpressionLiteral(node) || ts.isTemplateExpression(node))
      if (!isTitle(node)) found.push(node.getText());
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The first argument of test(…), describe(…) and their each(…)(…). */
function isTitle(node: ts.Node): boolean {
  const call = node.parent;
  return (
    ts.isCallExpression(call) && call.arguments[0] === node && /^(test|describe)\b/.test(call.expression.getText())
  );
}

describe('error codes', () => {
  const asserted = files.flatMap(literals);

  test.each(Object.keys(codes))('%s is what a test expects', (code) => {
    const mention = new RegExp(`\\b${code}\\b`);
    expect(asserted.filter((text) => mention.test(text))).not.toEqual([]);
  });

  test('every code says when it is raised and what to do', () => {
    for (const [code, { when, cure }] of Object.entries(codes)) {
      expect([code, when.length > 10, cure.length > 5]).toEqual([code, true, true]);
      expect(`${when}${cure}`).not.toMatch(/[.!]$/);
    }
  });
});
