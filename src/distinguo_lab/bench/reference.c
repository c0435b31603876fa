/* The references of `distinguo bench`: the puck under a greedy policy over prototypes, in plain C.
 *
 * run_brute_force searches all prototypes for every lane, as distinguo.evaluation.simulate does;
 * run_lockstep shares one short list among all lanes, as distinguo.evaluation.lockstep does, loop by loop.
 * Both write the length of each trial. No result depends on the compiler's options as long as it keeps to IEEE 754
 * and does not contract a * b + c.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 64, VECTOR = 8, BITS = 62, PAIRWISE = 2048, FIRST_PAUSE = 8, FRESH = 0, RENEW = 1, WIDEN = 2 };

static const double SAFETY = 1e-12, TINY = 1e-290, ROOM = 0.25;

typedef struct {
    double beta, gravity, mass, force, interval, wall;
} Puck;

typedef struct {
    int64_t size;
    const double *prototypes; /* size rows of x, v */
    const double *weight;
    const int64_t *policy; /* the action of each prototype */
} Map;

typedef struct {
    _Alignas(64) double x[LANES], v[LANES], returns[LANES], over[LANES], best[LANES];
    int64_t picked[LANES], action[LANES], order[LANES];
    double low[2], high[2];
    int64_t masks[2];
    int64_t *entries, *policy;
    double *places;
    uint8_t *seen;
} Block;

static inline double squared(double x, double v, const double *p, const double *w)
{
    double d = (x - p[0]) * w[0], total = d * d;
    d = (v - p[1]) * w[1];
    return total + d * d;
}

/* ---- brute force --------------------------------------------------------------------------------------------- */

void run_brute_force(const Puck *task, const Map *map, const double *starts, int64_t count, int64_t cap,
                     int64_t *lengths, double *returns, uint8_t *seen)
{
    const Puck t = *task;
    const double push = t.force / t.mass;
    double *states = malloc(sizeof(double) * 2 * (size_t)count);
    int64_t *running = malloc(sizeof(int64_t) * (size_t)count);
    memcpy(states, starts, sizeof(double) * 2 * (size_t)count);
    for (int64_t k = 0; k < count; k++) {
        running[k] = k;
        lengths[k] = 0;
        returns[k] = 0.0;
    }
    for (int64_t step = 0; step < cap && count > 0; step++) {
        int64_t kept = 0;
        for (int64_t place = 0; place < count; place++) {
            const int64_t lane = running[place];
            const double x = states[2 * lane], v = states[2 * lane + 1];
            int64_t near = 0;
            double least = HUGE_VAL;
            for (int64_t p = 0; p < map->size; p++) {
                const double distance = squared(x, v, map->prototypes + 2 * p, map->weight);
                if (distance < least) {
                    near = p;
                    least = distance;
                }
            }
            seen[near] = 1;
            const double f = map->policy[near] == 1 ? push : -push;
            const double u = -2.0 * t.beta * x, c = 1.0 / sqrt(1.0 + u * u);
            const double x_next = x + t.interval * v;
            states[2 * lane] = x_next;
            states[2 * lane + 1] = v + t.interval * ((f - t.gravity * (u * c)) * c);
            const int fell = !(-t.wall < x_next && x_next < t.wall);
            lengths[lane]++;
            returns[lane] += fell ? -1.0 : 0.0;
            if (!fell)
                running[kept++] = lane;
        }
        count = kept;
    }
    free(states);
    free(running);
}

/* ---- lock-step: the list ------------------------------------------------------------------------------------- */

static double reach(const Map *map, const Block *b, int64_t p, int farthest)
{
    double total = 0.0;
    for (int i = 0; i < 2; i++) {
        const double below = (map->prototypes[2 * p + i] - b->low[i]) * map->weight[i];
        const double above = (b->high[i] - map->prototypes[2 * p + i]) * map->weight[i];
        const double far = below > above ? below : above, near = -below > -above ? -below : -above;
        const double d = farthest ? far : (near > 0.0 ? near : 0.0);
        total += d * d;
    }
    return total;
}

static double lead(const Map *map, const Block *b, int64_t p, int64_t q)
{
    double greatest = 0.0;
    for (int i = 0; i < 2; i++) {
        const double w = map->weight[i], here = map->prototypes[2 * p + i], there = map->prototypes[2 * q + i];
        const double slope = (here - there) * w;
        const double low = slope * (((b->low[i] - here) + (b->low[i] - there)) * w);
        const double high = slope * (((b->high[i] - here) + (b->high[i] - there)) * w);
        greatest += low > high ? low : high;
    }
    return greatest;
}

static void surround_axis(Block *b, const double *column, int i, int64_t count, int keep)
{
    double low = column[0], high = column[0];
    for (int64_t lane = 1; lane < count; lane++) {
        low = column[lane] < low ? column[lane] : low;
        high = column[lane] > high ? column[lane] : high;
    }
    const double room = ROOM * (high - low);
    low -= room;
    high += room;
    b->low[i] = keep && b->low[i] < low ? b->low[i] : low;
    b->high[i] = keep && b->high[i] > high ? b->high[i] : high;
}

static int64_t make_list(const Map *map, Block *b, int64_t patience)
{
    double least = HUGE_VAL;
    int64_t size = 0, kept = 0;
    for (int64_t p = 0; p < map->size; p++) {
        const double far = reach(map, b, p, 1);
        least = far < least ? far : least;
    }
    least = least * (1.0 + SAFETY) + TINY;
    for (int64_t p = 0; p < map->size; p++)
        if (!(reach(map, b, p, 0) > least))
            b->entries[size++] = p;
    if (size <= PAIRWISE && size <= patience) {
        for (int64_t c = 0; c < size; c++) {
            const double limit = -(SAFETY * reach(map, b, b->entries[c], 1) + TINY);
            int beaten = 0;
            for (int64_t o = 0; o < size && !beaten; o++)
                if (o < kept || o > c)
                    beaten = lead(map, b, b->entries[c], b->entries[o]) < limit;
            if (!beaten)
                b->entries[kept++] = b->entries[c];
        }
        size = kept;
    }
    if (size % 2) {
        b->entries[size] = b->entries[size - 1];
        size++;
    }
    b->masks[0] = b->masks[1] = 0;
    for (int64_t c = 0; c < size; c++) {
        const int64_t p = b->entries[c];
        b->places[2 * c] = map->prototypes[2 * p];
        b->places[2 * c + 1] = map->prototypes[2 * p + 1];
        b->policy[c] = map->policy[p];
        if (size <= BITS)
            b->masks[map->policy[p]] |= (int64_t)1 << c;
    }
    return size;
}

/* ---- lock-step: the lanes ------------------------------------------------------------------------------------ */

static inline void find_two(Block *b, const double *weight, int64_t lanes, int64_t c, int64_t first, int64_t second)
{
    const double w[2] = {weight[0], weight[1]};
    const double p[2] = {b->places[2 * c], b->places[2 * c + 1]};
    const double o[2] = {b->places[2 * c + 2], b->places[2 * c + 3]};
    if (c == 0) {
        for (int64_t k = 0; k < lanes; k++) {
            const double near = squared(b->x[k], b->v[k], p, w), other = squared(b->x[k], b->v[k], o, w);
            b->best[k] = other < near ? other : near;
            b->picked[k] = other < near ? second : first;
        }
        return;
    }
    for (int64_t k = 0; k < lanes; k++) {
        const double here = squared(b->x[k], b->v[k], p, w), other = squared(b->x[k], b->v[k], o, w);
        double near = b->best[k];
        int64_t pick = b->picked[k];
        pick = here < near ? first : pick;
        near = here < near ? here : near;
        b->best[k] = other < near ? other : near;
        b->picked[k] = other < near ? second : pick;
    }
}

static inline void decide(Block *b, int64_t lanes)
{
    for (int64_t k = 0; k < lanes; k++) {
        b->action[k] = b->policy[b->picked[k]];
        b->seen[b->entries[b->picked[k]]] = 1;
    }
}

static inline void move(const Puck t, Block *b, int64_t lanes, int64_t *ended, int64_t *left)
{
    const double low[2] = {b->low[0], b->low[1]}, high[2] = {b->high[0], b->high[1]};
    const double push = t.force / t.mass;
    int64_t fallen = 0, gone = 0;
    for (int64_t k = 0; k < lanes; k++) {
        const double x = b->x[k], v = b->v[k];
        const double f = b->action[k] == 1 ? push : -push;
        const double u = -2.0 * t.beta * x, c = 1.0 / sqrt(1.0 + u * u);
        const double x_next = x + t.interval * v;
        const double v_next = v + t.interval * ((f - t.gravity * (u * c)) * c);
        const int fell = !((-t.wall < x_next) & (x_next < t.wall));
        b->x[k] = x_next;
        b->v[k] = v_next;
        b->returns[k] += fell ? -1.0 : 0.0;
        b->over[k] = fell ? 1.0 : 0.0;
        fallen += fell;
        gone += !((x_next >= low[0]) & (x_next <= high[0]) & (v_next >= low[1]) & (v_next <= high[1]));
    }
    *ended = fallen;
    *left = gone;
}

/* Steps with a short list whose last entries are c and c + 1: comparing with these two and moving is one loop. */
static int64_t advance(const Puck t, Block *b, const double *weight, int64_t lanes, int64_t c, int64_t most,
                       int64_t *picks, int64_t *ended, int64_t *left)
{
    const double w[2] = {weight[0], weight[1]};
    const double p[2] = {b->places[2 * c], b->places[2 * c + 1]};
    const double o[2] = {b->places[2 * c + 2], b->places[2 * c + 3]};
    const double low[2] = {b->low[0], b->low[1]}, high[2] = {b->high[0], b->high[1]};
    const double push = t.force / t.mass;
    const int64_t first = (int64_t)1 << c, second = (int64_t)2 << c, right = b->masks[1];
    int64_t taken = 0, picked = 0, fallen = 0, gone = 0;
    while (taken < most && fallen == 0 && gone == 0) {
        for (int64_t d = 0; d < c; d += 2)
            find_two(b, weight, lanes, d, (int64_t)1 << d, (int64_t)2 << d);
        for (int64_t k = 0; k < lanes; k++) {
            const double x = b->x[k], v = b->v[k];
            const double here = squared(x, v, p, w), other = squared(x, v, o, w);
            double near = b->best[k];
            int64_t pick = b->picked[k];
            pick = here < near ? first : pick;
            near = here < near ? here : near;
            pick = other < near ? second : pick;
            const double f = pick & right ? push : -push;
            const double u = -2.0 * t.beta * x, n = 1.0 / sqrt(1.0 + u * u);
            const double x_next = x + t.interval * v;
            const double v_next = v + t.interval * ((f - t.gravity * (u * n)) * n);
            const int fell = !((-t.wall < x_next) & (x_next < t.wall));
            b->x[k] = x_next;
            b->v[k] = v_next;
            b->returns[k] += fell ? -1.0 : 0.0;
            b->over[k] = fell ? 1.0 : 0.0;
            picked |= pick;
            fallen += fell;
            gone += !((x_next >= low[0]) & (x_next <= high[0]) & (v_next >= low[1]) & (v_next <= high[1]));
        }
        taken++;
    }
    *picks = picked;
    *ended = fallen;
    *left = gone;
    return taken;
}

static int64_t in_use(int64_t count)
{
    return (count + VECTOR - 1) / VECTOR * VECTOR;
}

static void fill_up(Block *b, int64_t count)
{
    for (int64_t k = count; k < in_use(count); k++) {
        b->x[k] = b->x[0];
        b->v[k] = b->v[0];
    }
}

static int64_t retire(Block *b, int64_t count, int64_t done, int64_t *lengths, double *returns)
{
    int64_t kept = 0;
    for (int64_t k = 0; k < count; k++) {
        if (b->over[k] != 0.0) {
            lengths[b->order[k]] = done;
            returns[b->order[k]] = b->returns[k];
            continue;
        }
        b->x[kept] = b->x[k];
        b->v[kept] = b->v[k];
        b->returns[kept] = b->returns[k];
        b->order[kept++] = b->order[k];
    }
    fill_up(b, kept);
    return kept;
}

/* At most LANES trials. */
void run_lockstep(const Puck *task, const Map *map, const double *starts, int64_t count, int64_t cap,
                  int64_t *lengths, double *returns, uint8_t *seen)
{
    const size_t most = (size_t)map->size + 1;
    Block *b = memset(aligned_alloc(_Alignof(Block), sizeof(Block)), 0, sizeof(Block));
    b->entries = malloc(sizeof(int64_t) * most);
    b->policy = malloc(sizeof(int64_t) * most);
    b->places = malloc(sizeof(double) * 2 * most);
    b->seen = seen;
    for (int64_t k = 0; k < count; k++) {
        b->x[k] = starts[2 * k];
        b->v[k] = starts[2 * k + 1];
        b->order[k] = k;
        lengths[k] = cap;
    }
    fill_up(b, count);
    int64_t done = 0, size = 0, stale = RENEW, pause = FIRST_PAUSE, age = 0;
    while (count > 0 && done < cap) {
        if (stale != FRESH) {
            surround_axis(b, b->x, 0, count, stale == WIDEN);
            surround_axis(b, b->v, 1, count, stale == WIDEN);
            size = make_list(map, b, pause);
            for (int64_t k = 0; size == 2 && k < LANES; k++) { /* nothing was near before */
                b->best[k] = HUGE_VAL;
                b->picked[k] = 1;
            }
            stale = FRESH;
        }
        const int64_t lanes = in_use(count), first = done;
        const int64_t most = cap - done < pause - age ? cap - done : pause - age;
        int64_t picked = 0, ended = 0, left = 0;
        if (size <= BITS)
            done += advance(*task, b, map->weight, lanes, size - 2, most, &picked, &ended, &left);
        else
            while (done < first + most && ended == 0 && left == 0) {
                for (int64_t c = 0; c < size; c += 2)
                    find_two(b, map->weight, lanes, c, c, c + 1);
                decide(b, lanes);
                move(*task, b, lanes, &ended, &left);
                done++;
            }
        if (size <= BITS)
            for (int64_t c = 0; c < size; c++)
                if (picked & ((int64_t)1 << c))
                    seen[b->entries[c]] = 1;
        age += done - first;
        if (left) {
            stale = WIDEN;
        } else if (age >= pause) {
            age = 0;
            stale = RENEW;
            pause *= 2;
        }
        if (ended) {
            count = retire(b, count, done, lengths, returns);
            pause = FIRST_PAUSE;
            age = 0;
        }
    }
    for (int64_t k = 0; k < count; k++)
        returns[b->order[k]] = b->returns[k];
    free(b->entries);
    free(b->policy);
    free(b->places);
    free(b);
}

/* ---- by hand for AVX-512: all prototypes for eight lanes at a time -------------------------------------------- */

#ifdef __AVX512F__
#include <immintrin.h>

typedef struct {
    __m512d x, v;
    __mmask8 alive;
} Eight;

static inline __mmask8 pushes_right(const Map *map, __m512d x, __m512d v)
{
    const __m512d wx = _mm512_set1_pd(map->weight[0]), wv = _mm512_set1_pd(map->weight[1]);
    __m512d least = _mm512_set1_pd(HUGE_VAL);
    __mmask8 right = 0;
    for (int64_t p = 0; p < map->size; p++) {
        const __m512d dx = _mm512_mul_pd(_mm512_sub_pd(x, _mm512_set1_pd(map->prototypes[2 * p])), wx);
        const __m512d dv = _mm512_mul_pd(_mm512_sub_pd(v, _mm512_set1_pd(map->prototypes[2 * p + 1])), wv);
        const __m512d distance = _mm512_add_pd(_mm512_mul_pd(dx, dx), _mm512_mul_pd(dv, dv));
        const __mmask8 nearer = _mm512_cmp_pd_mask(distance, least, _CMP_LT_OQ);
        least = _mm512_min_pd(distance, least);
        right = (__mmask8)((right & ~nearer) | (map->policy[p] == 1 ? nearer : 0));
    }
    return right;
}

static inline __mmask8 push(const Puck *t, const Map *map, Eight *lanes)
{
    const __m512d one = _mm512_set1_pd(1.0), interval = _mm512_set1_pd(t->interval);
    const __m512d u = _mm512_mul_pd(_mm512_set1_pd(-2.0 * t->beta), lanes->x);
    const __m512d c = _mm512_div_pd(one, _mm512_sqrt_pd(_mm512_add_pd(one, _mm512_mul_pd(u, u))));
    const __m512d f = _mm512_mask_blend_pd(pushes_right(map, lanes->x, lanes->v),
                                           _mm512_set1_pd(-t->force / t->mass), _mm512_set1_pd(t->force / t->mass));
    const __m512d pull = _mm512_mul_pd(_mm512_set1_pd(t->gravity), _mm512_mul_pd(u, c));
    const __m512d change = _mm512_mul_pd(interval, _mm512_mul_pd(_mm512_sub_pd(f, pull), c));
    lanes->x = _mm512_add_pd(lanes->x, _mm512_mul_pd(interval, lanes->v));
    lanes->v = _mm512_add_pd(lanes->v, change);
    const __mmask8 inside = _mm512_cmp_pd_mask(_mm512_abs_pd(lanes->x), _mm512_set1_pd(t->wall), _CMP_LT_OQ);
    const __mmask8 fell = (__mmask8)(lanes->alive & ~inside);
    lanes->alive = (__mmask8)(lanes->alive & inside);
    return fell;
}

void run_by_hand(const Puck *task, const Map *map, const double *starts, int64_t count, int64_t cap,
                 int64_t *lengths, double *returns, uint8_t *seen)
{
    (void)returns;
    (void)seen;
    for (int64_t first = 0; first < count; first += LANES) {
        Eight block[LANES / 8];
        const int64_t lanes = count - first < LANES ? count - first : LANES, eights = (lanes + 7) / 8;
        for (int64_t k = 0; k < eights; k++) {
            double x[8] = {0}, v[8] = {0};
            const int64_t left = lanes - 8 * k < 8 ? lanes - 8 * k : 8;
            for (int64_t i = 0; i < left; i++) {
                x[i] = starts[2 * (first + 8 * k + i)];
                v[i] = starts[2 * (first + 8 * k + i) + 1];
                lengths[first + 8 * k + i] = cap;
            }
            block[k] = (Eight){_mm512_loadu_pd(x), _mm512_loadu_pd(v), (__mmask8)((1u << left) - 1u)};
        }
        int alive = 1;
        for (int64_t step = 1; step <= cap && alive; step++) {
            alive = 0;
            for (int64_t k = 0; k < eights; k++) {
                const __mmask8 fell = push(task, map, &block[k]);
                alive |= block[k].alive;
                for (int64_t i = 0; fell && i < 8; i++)
                    if (fell >> i & 1)
                        lengths[first + 8 * k + i] = step;
            }
        }
    }
}
#endif
