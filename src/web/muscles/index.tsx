/**
 * SVG drawings of a single muscle (`/static/images/muscles/<main|secondary>/muscle-<id>.svg`) or of
 * several muscles (`body.svg`).
 */
import express, { type Response, type Router } from 'express';
import { renderToString } from 'preact-render-to-string';
import {
  BODY_SVG_PATH,
  HEAD_ELLIPSE,
  MUSCLE_SVG_PATHS,
} from '../../fitness/catalogue/muscle-shapes';

interface Muscle {
  name: string;
  isFront: boolean;
}

/** Colours of muscles by their role in an exercise, visible in light and dark mode. */
const COLOUR_BY_ROLE: Readonly<Record<string, string>> = { main: '#d1242f', secondary: '#e08600' };
const SKIN_COLOUR = '#c3c9d1';

/** Colours of dark mode. An SVG image follows the colour scheme of the page that embeds it. */
const DARK_MODE_STYLE =
  '@media (prefers-color-scheme:dark){.skin{fill:#3d4650}.main{fill:#ff6b6b}.secondary{fill:#ffb340}}';
const DAY_SECONDS = 24 * 60 * 60;
const MAX_MUSCLES = 40;
const FIGURE_WIDTH = 200;

type ColouredMuscle = readonly [muscle: Muscle, role: string];

function BodySide({ muscles }: { muscles: readonly ColouredMuscle[] }) {
  const halfBody = (
    <g>
      <path d={BODY_SVG_PATH} fill={SKIN_COLOUR} class="skin" />
      {muscles.map(
        ([{ name }, role]) =>
          MUSCLE_SVG_PATHS[name] && (
            <path key={name} d={MUSCLE_SVG_PATHS[name]} fill={COLOUR_BY_ROLE[role]} class={role} />
          ),
      )}
    </g>
  );

  return (
    <>
      <ellipse {...HEAD_ELLIPSE} fill={SKIN_COLOUR} class="skin" />
      {halfBody}
      <g transform="matrix(-1 0 0 1 200 0)">{halfBody}</g>
    </>
  );
}

function Drawing({
  title,
  figures,
}: {
  title: string;
  figures: readonly (readonly ColouredMuscle[])[];
}) {
  const width = FIGURE_WIDTH * figures.length;

  return (
    <svg
      xmlns="http://www.w3.org/2000/svg"
      viewBox={`0 0 ${width} 400`}
      width={width}
      height="400"
      role="img"
    >
      <title>{title}</title>
      <style>{DARK_MODE_STYLE}</style>
      {figures.map((muscles, index) => (
        <g key={index} {...(index > 0 && { transform: `translate(${index * FIGURE_WIDTH} 0)` })}>
          <BodySide muscles={muscles} />
        </g>
      ))}
    </svg>
  );
}

function sendDrawing(
  response: Response,
  title: string,
  figures: readonly (readonly ColouredMuscle[])[],
): void {
  response
    .type('svg')
    .set({
      'Cache-Control': `public, max-age=${DAY_SECONDS}`,
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    })
    .send(renderToString(<Drawing title={title} figures={figures} />));
}

/**
 * Serves drawings of the body with coloured muscles. A muscle without a shape, such as one added by
 * an operator, is left out.
 */
export function muscleDrawingRoutes(muscleOf: (id: number) => Muscle | null): Router {
  const router = express.Router({ caseSensitive: true });

  /** Parses comma-separated ids such as `1,2,3`. Unknown muscles are ignored. */
  const parseMuscles = (ids: unknown): Muscle[] => {
    if (typeof ids !== 'string') return [];
    const validIds = ids.split(',', MAX_MUSCLES).filter((id) => /^\d{1,9}$/.test(id));

    return validIds.map((id) => muscleOf(Number(id))).filter((muscle) => muscle !== null);
  };

  router.get('/static/images/muscles/body.svg', ({ query }, response) => {
    const colouredMuscles: ColouredMuscle[] = ['secondary', 'main'].flatMap((role) =>
      parseMuscles(query[role]).map((muscle): ColouredMuscle => [muscle, role]),
    );
    const names = colouredMuscles.map(([{ name }]) => name).join(', ');
    const musclesOfSide = (front: boolean) =>
      colouredMuscles.filter(([{ isFront }]) => isFront === front);

    sendDrawing(response, names || 'Body', [musclesOfSide(true), musclesOfSide(false)]);
  });

  router.get('/static/images/muscles/:kind/:file', (request, response, next) => {
    const { kind: role, file } = request.params;
    const id = /^muscle-(\d{1,9})\.svg$/.exec(file)?.[1];
    const muscle = id === undefined ? null : muscleOf(Number(id));

    if (!Object.hasOwn(COLOUR_BY_ROLE, role) || !muscle) return next();
    sendDrawing(response, `${muscle.name}, ${muscle.isFront ? 'front' : 'back'} of the body`, [
      [[muscle, role]],
    ]);
  });

  return router;
}
