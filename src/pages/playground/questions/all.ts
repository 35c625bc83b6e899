/** The worked questions, in the order in which the playground lists them. */
import { BODY } from './body';
import { CATALOGUE } from './catalogue';
import { EFFORT } from './effort';
import { NUTRITION } from './nutrition';
import type { Question } from './question';
import { TRAINING } from './training';

export const QUESTIONS: readonly Question[] = [...TRAINING, ...EFFORT, ...NUTRITION, ...BODY, ...CATALOGUE];
