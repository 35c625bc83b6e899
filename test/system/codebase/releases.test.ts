/** Released schemas never change: clients are compared with them (`npm run check:breaking`). A release adds its file and digest. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

const FOLDER = path.join(__dirname, '../../../released');
/** SHA-256 digests of the released files. */
const DIGESTS: Record<string, string> = {
  '0.2.0.graphql': '81b4558883b7ae2222dc4df7e6db71665e5536fea1f45f279845217e876ab871',
  '0.3.0.graphql': 'db60c42477ff0b7c9298d96048b292f443d8137b035b410952472530caad1667',
};

test('keeps released schemas as they were released', () => {
  const digestOf = (file: string) =>
    createHash('sha256')
      .update(fs.readFileSync(path.join(FOLDER, file)))
      .digest('hex');
  expect(Object.fromEntries(fs.readdirSync(FOLDER).map((file) => [file, digestOf(file)]))).toEqual(
    DIGESTS,
  );
});
