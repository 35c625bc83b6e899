/** Drawings of muscles: `/static/images/muscles/<main|secondary>/muscle-<id>.svg`, which muscles name, and `body.svg` of all that an exercise trains. */
import express, { type Response, type Router } from 'express';
import { renderToString } from 'preact-render-to-string';
import { BODY, HEAD, SHAPES } from './shapes';

interface Muscle {
  name: string;
  isFront: boolean;
}

/** Seen on bright and on dark pages. */
const COLOURS: Readonly<Record<string, string>> = { main: '#d1242f', secondary: '#e08600' };
const SKIN = '#c3c9d1';
/** An image knows how bright the page is that shows it. */
const DARK = '@media (prefers-color-scheme:dark){.skin{fill:#3d4650}.main{fill:#ff6b6b}.secondary{fill:#ffb340}}';
const DAY_SECONDS = 24 * 60 * 60;
/** Nobody has more. */
const MAX_MUSCLES = 40;
const WIDTH = 200;

type Painted = readonly [muscle: Muscle, colour: string];

function Figure({ muscles }: { muscles: readonly Painted[] }) {
  const half = (
    <g>
      <path d={BODY} fill={SKIN} class="skin" />
      {muscles.map(([{ name }, colour]) => SHAPES[name] && <path key={name} d={SHAPES[name]} fill={COLOURS[colour]} class={colour} />)}
    </g>
  );
  return (
    <>
      <ellipse {...HEAD} fill={SKIN} class="skin" />
      {half}
      <g transform="matrix(-1 0 0 1 200 0)">{half}</g>
    </>
  );
}

function Drawing({ title, figures }: { title: string; figures: readonly (readonly Painted[])[] }) {
  const width = WIDTH * figures.length;
  return (
    <svg xmlns="http://www.w3.org/2000/svg" viewBox={`0 0 ${width} 400`} width={width} height="400" role="img">
      <title>{title}</title>
      <style>{DARK}</style>
      {figures.map((muscles, index) => (
        <g key={index} {...(index > 0 && { transform: `translate(${index * WIDTH} 0)` })}>
          <Figure muscles={muscles} />
        </g>
      ))}
    </svg>
  );
}

function send(response: Response, title: string, figures: readonly (readonly Painted[])[]): void {
  response
    .type('svg')
    .set({
      'Cache-Control': `public, max-age=${DAY_SECONDS}`,
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    })
    .send(renderToString(<Drawing title={title} figures={figures} />));
}

/** A muscle that nobody drew, one of the operator's own perhaps, is the figure alone. */
export function muscleDrawings(muscleOf: (id: number) => Muscle | null): Router {
  const router = express.Router({ caseSensitive: true });
  /** `1,2,3`; what is no muscle is left out. */
  const namedBy = (ids: unknown): Muscle[] =>
    (typeof ids === 'string' ? ids.split(',', MAX_MUSCLES) : []).flatMap((id) => (/^\d{1,9}$/.test(id) && muscleOf(Number(id))) || []);

  router.get('/static/images/muscles/body.svg', ({ query }, response) => {
    const painted: Painted[] = ['secondary', 'main'].flatMap((colour) => namedBy(query[colour]).map((muscle): Painted => [muscle, colour]));
    const names = painted.map(([{ name }]) => name).join(', ');
    const side = (front: boolean) => painted.filter(([{ isFront }]) => isFront === front);
    send(response, names || 'The body', [side(true), side(false)]);
  });

  router.get('/static/images/muscles/:kind/:file', (request, response, next) => {
    const { kind, file } = request.params;
    const id = /^muscle-(\d{1,9})\.svg$/.exec(file)?.[1];
    const muscle = id === undefined ? null : muscleOf(Number(id));
    if (!Object.hasOwn(COLOURS, kind) || !muscle) return next();
    send(response, `${muscle.name}, ${muscle.isFront ? 'front' : 'back'} of the body`, [[[muscle, kind]]]);
  });
  return router;
}
