/** Warnings of this process, which come a tick after they are made. */
export async function warnings(work: () => void): Promise<readonly string[]> {
  const seen: string[] = [];
  const listen = (warning: Error): void => {
    if (warning.name === 'MillraceWarning') seen.push(warning.message);
  };
  process.on('warning', listen);
  try {
    work();
    await new Promise(setImmediate);
  } finally {
    process.off('warning', listen);
  }
  return seen;
}
