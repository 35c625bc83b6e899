/** `fitgraph import`: imports a data dump with its media files. */
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { Media } from '../files/media';
import { StagedFiles } from '../files/staging';
import { DumpFile } from '../transfer/dumpfile';
import { stageMedia } from '../transfer/media';
import { writeRows } from '../transfer/writer';
import { formatCount, recordOperatorEvent, withDatabase, createRowProgress, printLine } from './operator';

export async function importDump(file: string, { media, replace }: { media?: string; replace?: boolean }): Promise<void> {
  const rows = await DumpFile.open(file);
  await withDatabase(async ({ config, database, session, vault }) => {
    const folder = Media.of(config);
    const staged = new StagedFiles(folder, `.import-${randomUUID()}`);
    try {
      const counts = await writeRows(rows, database, {
        vault,
        replace,
        progress: createRowProgress('Importing'),
        before: async () => {
          if (media) await stageMedia(rows, media, folder, staged, Boolean(replace));
        },
      });
      const count = [...counts.values()].reduce((sum, rowCount) => sum + rowCount, 0);
      await recordOperatorEvent(
        { kind: 'IMPORTED', detail: `${basename(file)}${replace ? ' --replace' : ''}: ${formatCount(count, 'row')}` },
        session,
      );
      // Published after the commit: until then a rollback would still need the replaced files.
      await staged.publish(Boolean(replace));
      printLine(`${formatCount(count, 'row')} of ${formatCount(counts.size, 'model')} imported.`);
    } catch (error) {
      await staged.discard();
      throw error;
    }
  });
}
