import { createHash } from 'node:crypto';
import { abs } from './exercises/abs';
import { arms } from './exercises/arms';
import { back } from './exercises/back';
import { calves } from './exercises/calves';
import { chest } from './exercises/chest';
import { ILLUSTRATED, imageContent, imagePath } from './exercises/images';
import { GEAR, MUSCLE, type ExerciseEntry, type Wording } from './exercises/entry';
import { hinges } from './exercises/hinges';
import { shoulders } from './exercises/shoulders';
import { squats } from './exercises/squats';
import { CATEGORY } from './reference';
import {
  CATALOGUE_AUTHOR,
  CATALOGUE_DATE,
  DEFAULT_LICENSE,
  ENGLISH,
  GERMAN,
  RowList,
  type SeedRow,
} from './row';

const ENTRIES: ExerciseEntry[] = [
  ...chest,
  ...back,
  ...squats,
  ...hinges,
  ...shoulders,
  ...arms,
  ...abs,
  ...calves,
];

/**
 * Namespace of the UUIDs below: an arbitrary constant, so that they never collide with those of
 * another catalogue.
 */
const NAMESPACE = Buffer.from('6f1d8a52c0b74f0e9a3b5d27e4c81960', 'hex');

/** Returns a version 5 UUID: the same name has the same UUID in every installation. */
function uuidOf(name: string): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(name, 'utf8').digest().subarray(0, 16);

  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const owned = { license: DEFAULT_LICENSE, license_author: CATALOGUE_AUTHOR, status: '2' };

/** Bases are numbered from 1 in the order of the entries. */
const baseOf = (name: string): number => ENTRIES.findIndex((entry) => entry.name === name) + 1;

/** Returns the image files to store, by path. */
export const exerciseImages = (): [path: string, content: Buffer][] =>
  ILLUSTRATED.map((name) => [imagePath(baseOf(name)), imageContent(name)]);

/** Returns the exercises with their variations, translations and comments. */
export function exercises(today: string): SeedRow[] {
  // Nothing is dated after the day of loading, even on a machine whose clock is behind.
  const creationDate = today < CATALOGUE_DATE ? today : CATALOGUE_DATE;
  const list = new RowList();
  const groups = new Map<string, number>();

  for (const { group } of ENTRIES) {
    if (group !== undefined && !groups.has(group)) {
      groups.set(group, list.add('exercises.variation', {}));
    }
  }

  const bases = ENTRIES.map((entry) =>
    list.add('exercises.exercisebase', {
      ...owned,
      uuid: uuidOf(`base:${entry.name}`),
      category: CATEGORY[entry.category],
      variations: entry.group === undefined ? null : (groups.get(entry.group) ?? null),
      muscles: entry.main.map((muscle) => MUSCLE[muscle]),
      muscles_secondary: (entry.second ?? []).map((muscle) => MUSCLE[muscle]),
      equipment: (entry.gear ?? []).map((gear) => GEAR[gear]),
    }),
  );

  const translate = (wording: Wording, language: number, base: number | undefined): void => {
    const exercise = list.add('exercises.exercise', {
      ...owned,
      description: `<p>${wording.text}</p>`,
      name: wording.name,
      name_original: wording.name,
      creation_date: creationDate,
      language,
      uuid: uuidOf(`${language}:${wording.name}`),
      exercise_base: base,
    });

    for (const comment of wording.cues ?? []) {
      list.add('exercises.exercisecomment', { exercise, comment });
    }
  };

  ENTRIES.forEach((entry, index) => translate(entry, ENGLISH, bases[index]));
  ENTRIES.forEach((entry, index) => entry.de && translate(entry.de, GERMAN, bases[index]));

  for (const name of ILLUSTRATED) {
    const exercise = baseOf(name);

    list.add('exercises.exerciseimage', {
      ...owned,
      uuid: uuidOf(`image:${name}`),
      exercise,
      image: imagePath(exercise),
      is_main: true,
    });
  }

  return list.rows;
}
