"""Intervals in C: what the translated program of a task needs, and the functions that ask about its certificate.

``@`` stands for the prefix of all names. Ends are computed by the operation itself, which rounds monotonically;
functions of the C library may be off by eight units of the last place.
"""

from __future__ import annotations

#: In the order in which they need each other; only those that a program needs are written.
LIBRARY = {
    "between": """\
static inline @_number @_between(double low, double high)
{
    const @_number x = {low, high};
    return x;
}

""",
    "drawn": """\
static inline @_number @_drawn(@_number x, @_number y) /* any number between two */
{
    const @_number z = {x.low < y.low ? x.low : y.low, x.high > y.high ? x.high : y.high};
    return z;
}

""",
    "minus": """\
static inline @_number @_minus(@_number x)
{
    const @_number y = {-x.high, -x.low};
    return y;
}

""",
    "add": """\
static inline @_number @_add(@_number x, @_number y)
{
    const @_number z = {x.low + y.low, x.high + y.high};
    return z;
}

""",
    "subtract": """\
static inline @_number @_subtract(@_number x, @_number y)
{
    const @_number z = {x.low - y.high, x.high - y.low};
    return z;
}

""",
    "multiply": """\
static inline @_number @_multiply(@_number x, @_number y)
{
    return @_span(x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high);
}

""",
    "divide": """\
static inline @_number @_divide(struct @_ways *w, @_number x, @_number y)
{
    if (!(y.low > 0.0 || y.high < 0.0)) {
        w->lost = 1;
        return x;
    }
    return @_span(x.low / y.low, x.low / y.high, x.high / y.low, x.high / y.high);
}

""",
    "magnitude": """\
static inline @_number @_magnitude(@_number x)
{
    const double low = x.low < 0.0 ? -x.low : x.low, high = x.high < 0.0 ? -x.high : x.high;
    const @_number y = {x.low < 0.0 && x.high > 0.0 ? 0.0 : low < high ? low : high, low > high ? low : high};
    return y;
}

""",
    "modulo": """\
static inline double @_modulo(double x, double y, int truncated) /* as fmod, or with the sign of y */
{
    const double z = fmod(x, y);
    return !truncated && z != 0.0 && (z < 0.0) != (y < 0.0) ? z + y : z;
}

""",
    "remainder": """\
static inline @_number @_remainder(struct @_ways *w, @_number x, @_number y, int truncated)
{
    const double most = -y.low > y.high ? -y.low : y.high;
    @_number z = {y.low < 0.0 || truncated ? -most : 0.0, y.high > 0.0 || truncated ? most : 0.0};
    if (!(y.low > 0.0 || y.high < 0.0)) {
        w->lost = 1;
    } else if (y.low == y.high && (x.low == x.high || x.high - x.low < 0.5 * most)) {
        const double low = @_modulo(x.low, y.low, truncated), high = @_modulo(x.high, y.low, truncated);
        if (low <= high) { /* no multiple of y is between them */
            z.low = low;
            z.high = high;
        }
    }
    return z;
}

""",
    "copysign": """\
static inline @_number @_copysign(@_number x, @_number y)
{
    const @_number size = @_magnitude(x);
    const @_number z = {y.low > 0.0 ? size.low : -size.high, y.high < 0.0 ? -size.low : size.high};
    return z;
}

""",
    "least": """\
static inline @_number @_least(@_number x, @_number y)
{
    const @_number z = {y.low < x.low ? y.low : x.low, y.high < x.high ? y.high : x.high};
    return z;
}

""",
    "greatest": """\
static inline @_number @_greatest(@_number x, @_number y)
{
    const @_number z = {y.low > x.low ? y.low : x.low, y.high > x.high ? y.high : x.high};
    return z;
}

""",
    "off": """\
static inline @_number @_off(@_number x, int times) /* off by up to eight units of the last place, so many times */
{
    const double share = 8.9e-16 * times;
    const double low = x.low < 0.0 ? -x.low : x.low, high = x.high < 0.0 ? -x.high : x.high;
    const @_number y = {x.low - share * low - 1e-300, x.high + share * high + 1e-300};
    return y;
}

""",
    "power": """\
static inline @_number @_power(@_number x, int n)
{
    const int even = n % 2 == 0 && x.low < 0.0;
    const double far = -x.low > x.high ? -x.low : x.high, near = x.high < 0.0 ? -x.high : 0.0;
    @_number y = {1.0, 1.0};
    if (even) {
        x.low = near;
        x.high = far;
    }
    for (int i = 0; i < n; i++) {
        y = @_span(x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high);
    }
    return @_off(y, 1 + n);
}

""",
    "square_root": """\
static inline @_number @_square_root(struct @_ways *w, @_number x)
{
    @_number y = {0.0, 0.0};
    if (!(x.low >= 0.0)) {
        w->lost = 1;
        return y;
    }
    y.low = sqrt(x.low);
    y.high = sqrt(x.high);
    return y;
}

""",
    "wave": """\
static inline @_number @_wave(@_number x, double low, double high, double summit)
{
    const double turn = 6.283185307179586, near = 1e-9 * (1.0 + (x.low < 0.0 ? -x.low : x.low)
        + (x.high < 0.0 ? -x.high : x.high));
    @_number y = @_span(low, low, high, high);
    y = @_off(y, 1);
    if (summit + turn * ceil((x.low - near - summit) / turn) <= x.high + near) {
        y.high = 1.0;
    }
    summit -= 0.5 * turn;
    if (summit + turn * ceil((x.low - near - summit) / turn) <= x.high + near) {
        y.low = -1.0;
    }
    return y;
}

""",
    "sin": """\
static inline @_number @_sin(@_number x)
{
    return @_wave(x, sin(x.low), sin(x.high), 1.5707963267948966);
}

""",
    "cos": """\
static inline @_number @_cos(@_number x)
{
    return @_wave(x, cos(x.low), cos(x.high), 0.0);
}

""",
    "tan": """\
static inline @_number @_tan(struct @_ways *w, @_number x)
{
    w->lost |= !(x.low > -1.57 && x.high < 1.57);
    return @_off(@_span(tan(x.low), tan(x.low), tan(x.high), tan(x.high)), 1);
}

""",
    "exp": """\
static inline @_number @_exp(struct @_ways *w, @_number x)
{
    w->lost |= !(x.high <= 200.0);
    return @_off(@_span(exp(x.low), exp(x.low), exp(x.high), exp(x.high)), 1);
}

""",
    "log": """\
static inline @_number @_log(struct @_ways *w, @_number x)
{
    w->lost |= !(x.low > 0.0);
    return @_off(@_span(log(x.low), log(x.low), log(x.high), log(x.high)), 1);
}

""",
    "tanh": """\
static inline @_number @_tanh(@_number x)
{
    return @_off(@_span(tanh(x.low), tanh(x.low), tanh(x.high), tanh(x.high)), 1);
}

""",
    "decide": """\
static inline int @_decide(struct @_ways *w, int may, int must)
{
    if (!may || must) {
        return must;
    }
    if (w->made == w->count) {
        if (w->count == @FORKS@) {
            w->lost = 1;
            return 1;
        }
        w->answers[w->count++] = 1;
    }
    return w->answers[w->made++];
}

""",
    "less": """\
static inline int @_less(struct @_ways *w, @_number x, @_number y)
{
    return @_decide(w, x.low < y.high, x.high < y.low);
}

""",
    "equal": """\
static inline int @_equal(struct @_ways *w, @_number x, @_number y)
{
    const int must = x.low == x.high && y.low == y.high && x.low == y.low;
    return @_decide(w, x.low <= y.high && y.low <= x.high, must);
}

""",
}

#: The functions of a certificate, with places for its tables and its program.
FRAME = """\

/* What is certified: cells of a grid in the coordinates matrix * s, as runs of cells in order. */
@TABLES@
typedef struct {
    double low, high;
} @_number; /* every number between two, ends included */

struct @_ways { /* the ways that a step may go: its answers to comparisons that the numbers leave open */
    int count, made, lost;
    unsigned char answers[@FORKS@];
};

static inline @_number @_point(double x)
{
    const @_number y = {x, x};
    return y;
}

static inline @_number @_span(double p, double q, double r, double s)
{
    const double low = p < q ? p : q, least = r < s ? r : s;
    const double high = p > q ? p : q, most = r > s ? r : s;
    const @_number y = {low < least ? low : least, high > most ? high : most};
    return y;
}

@PROGRAM@/* Whether all cells that a box of states touches are certified. */
static inline int @_inside(const @_number s[@N@])
{
    long first[@N@], last[@N@], place[@N@];
    for (int i = 0; i < @N@; i++) {
        double low = 0.0, high = 0.0;
        int begun = 0;
        for (int j = 0; j < @N@; j++) {
            const double k = @_matrix[i][j];
            if (k != 0.0) {
                const double a = k * (k > 0.0 ? s[j].low : s[j].high), b = k * (k > 0.0 ? s[j].high : s[j].low);
                low = begun ? low + a : a;
                high = begun ? high + b : b;
                begun = 1;
            }
        }
        const double slack = @SLACK@ * (1.0 + (low < 0.0 ? -low : low) + (high < 0.0 ? -high : high));
        const double from = (low - slack - @_corner[i]) / @_pitch[i];
        const double to = (high + slack - @_corner[i]) / @_pitch[i];
        if (!(from >= 0.0 && to < (double)@_counts[i])) {
            return 0;
        }
        place[i] = first[i] = (long)from;
        last[i] = (long)to;
    }
    for (;;) { /* the cells of a row of the box must be in one run */
        long cell = 0, below = 0, above = @RUNS@;
        int axis = @N@ - 2;
        for (int i = 0; i < @N@; i++) {
            cell = cell * @_counts[i] + place[i];
        }
        while (above - below > 1) {
            const long middle = below + (above - below) / 2;
            if (@_firsts[middle] <= cell) {
                below = middle;
            } else {
                above = middle;
            }
        }
        if (cell < @_firsts[below] || cell + last[@N@ - 1] - first[@N@ - 1] > @_lasts[below]) {
            return 0;
        }
        while (axis >= 0 && ++place[axis] > last[axis]) {
            place[axis] = first[axis];
            axis--;
        }
        if (axis < 0) {
            return 1;
        }
    }
}

/* Whether a state is certified: from here the controller never fails. */
static inline int @_certified(const double s[@N@])
{
    @_number state[@N@];
    for (int i = 0; i < @N@; i++) {
        state[i] = @_point(s[i]);
    }
    return @_inside(state);
}

/* Whether one step with an action certainly ends in a certified state, whatever noise and unknown parameters are. */
static inline int @_returns(const double s[@N@], int a)
{
    struct @_ways w = {0, 0, 0, {0}};
    @_number state[@N@], after[@N@];
    int ways = 0;
    for (int i = 0; i < @N@; i++) {
        state[i] = @_point(s[i]);
    }
    do {
        int ended;
        w.made = 0;
        ended = @_step(&w, state, @_point((double)a), after);
        if (ended || w.lost || !@_inside(after) || ++ways == @WAYS@) {
            return 0;
        }
        w.count = w.made;
        while (w.count > 0 && !w.answers[w.count - 1]) {
            w.count--; /* both answers have been followed */
        }
        if (w.count > 0) {
            w.answers[w.count - 1] = 0;
        }
    } while (w.count > 0);
    return 1;
}

/* An action that is safe in a certified state: the one asked for if its step certainly ends in a certified state,
 * otherwise the controller's own. That may leave the certified states for a few steps; ask again at each of them. */
static inline int @_safe_action(const double s[@N@], int a)
{
    return a >= 0 && a < @ACTIONS@ && @_returns(s, a) ? a : @_action(s);
}
"""
