/**
 * Draws the exercise images of the catalogue (seeders/exercises/images/*.png) with the muscle
 * shapes of the pages: main muscles in red, secondary ones in orange, on the front and the back of
 * a figure. Run it after `npm run build` when the shapes or the list of exercises change.
 */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import sharp from 'sharp';

const require = createRequire(import.meta.url);
const {
  BODY_SVG_PATH,
  HEAD_ELLIPSE,
  MUSCLE_SVG_PATHS,
} = require('../dist/src/fitness/catalogue/muscle-shapes.js');
const { exercises } = require('../dist/seeders/exercises.js');
const { ILLUSTRATED, imageFileName } = require('../dist/seeders/exercises/images.js');
const { reference } = require('../dist/seeders/reference.js');

const [SKIN, MAIN, SECONDARY] = ['#c3c9d1', '#d1242f', '#e08600'];
const HEIGHT = 600;

const rows = [...reference(), ...exercises('2026-01-01')];
const of = (model) => rows.filter((row) => row.model === model);
const muscles = new Map(of('exercises.muscle').map(({ pk, fields }) => [pk, fields]));

function figure(base, isFront, offset) {
  const shapes = [
    [base.muscles_secondary, SECONDARY],
    [base.muscles, MAIN],
  ].flatMap(([ids, colour]) =>
    ids
      .map((id) => muscles.get(id))
      .filter(({ is_front }) => is_front === isFront)
      .map(({ name }) => `<path d="${MUSCLE_SVG_PATHS[name]}" fill="${colour}"/>`),
  );
  const { cx, cy, rx, ry } = HEAD_ELLIPSE;
  const half = `<path d="${BODY_SVG_PATH}" fill="${SKIN}"/>${shapes.join('')}`;

  return `<g transform="translate(${offset} 0)"><ellipse cx="${cx}" cy="${cy}" rx="${rx}" ry="${ry}" fill="${SKIN}"/>
    ${half}<g transform="matrix(-1 0 0 1 200 0)">${half}</g></g>`;
}

for (const name of ILLUSTRATED) {
  const { exercise_base: id } = of('exercises.exercise').find(
    ({ fields }) => fields.name === name,
  ).fields;
  const { fields: base } = of('exercises.exercisebase').find(({ pk }) => pk === id);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400"><rect width="400" height="400" fill="#fff"/>
    ${figure(base, true, 0)}${figure(base, false, 200)}</svg>`;
  const image = sharp(Buffer.from(svg), { density: 144 })
    .resize({ height: HEIGHT })
    .flatten({ background: '#fff' });

  writeFileSync(
    new URL(`../seeders/exercises/images/${imageFileName(name)}`, import.meta.url),
    await image.png({ palette: true, colours: 16, compressionLevel: 9 }).toBuffer(),
  );
}
