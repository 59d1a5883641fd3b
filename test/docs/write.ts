/** Rewrites the generated tables of the README. */

import { readFileSync, writeFileSync } from 'node:fs';
import { withTables } from './tables.js';

const readme = new URL('../../README.md', import.meta.url);
writeFileSync(readme, withTables(readFileSync(readme, 'utf8')));
