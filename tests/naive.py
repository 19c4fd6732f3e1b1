"""Naive twins of the kernels: plain Python and numpy, one word, row and number at a time.

Rows are numpy views, so a row that is twice in a list is one row, as it is for the kernels. A *window* is
(centre, contexts, noise), all words. A *position* is (i, line, start, stop, noise): centre i of a line of words, with
the context `line[start:stop]`.

A twin of a block returns the losses before its steps: at a rate of 0 the loss of constant tables.
"""

import numpy as np

from embeddings.kernels.row_operations import SINGLE_TILE, UPDATE_TILE

MASK = 2**64 - 1


def random_bits(key, counter):
    """64 random bits: splitmix64 of a key and a counter."""
    z = (key + counter * 0x9E3779B97F4A7C15) & MASK
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


class Stream:
    """The random numbers of a key, in order."""

    def __init__(self, key):
        self.key, self.counter = int(key), 0

    def next(self):
        self.counter += 1
        return random_bits(self.key, self.counter - 1)


def uniform_below(bits, n):
    return (bits >> 32) * n >> 32


def uniform_uint32(bits):
    return bits & 0xFFFFFFFF


def draw_word(table, bits):
    word = uniform_below(bits, len(table))
    threshold, alias = int(table[word]) % 2**32, int(table[word]) >> 32
    return word if uniform_uint32(bits) <= threshold else alias


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.logaddexp(0, x)


def score(inputs, targets):
    """S = X O', one dot product at a time."""
    return np.array([[float(x @ o) for o in targets] for x in inputs]).reshape(len(inputs), len(targets))


def update(steps, inputs, gradient_rows, targets):
    """O += G' X and X += G O of before; inputs are read and updated in turn."""
    before, sums = [o.copy() for o in targets], [np.zeros_like(o) for o in targets]
    for i, (x, gradient) in enumerate(zip(inputs, gradient_rows, strict=True)):
        step = np.zeros_like(gradient)
        for j, o in enumerate(before):
            sums[j] += steps[i, j] * x
            step += steps[i, j] * o
        gradient += step
    for o, change in zip(targets, sums, strict=True):
        o += change


def sum_rows(factor, output, rows):
    """Y += f (x_1 + ... + x_m)."""
    output += factor * np.sum(rows, axis=0, initial=0)


def scatter_add(factor, source, rows):
    """x_i += f y."""
    for row in rows:
        row += factor * source


def logistic_loss(scores, positives, weights):
    """The sum of -W log sigmoid(s) over positives and of -W log sigmoid(-s) over negatives."""
    signs = [-1 if j < positives else 1 for j in range(scores.shape[1])]
    return float(
        sum(w * softplus(sign * scores[:, j]).sum() for j, (w, sign) in enumerate(zip(weights, signs, strict=True)))
    )


def learn(inputs, gradient_rows, targets, positives, weights, rate, *, tile=UPDATE_TILE):
    """One step, at most `tile` targets at a time, fewer for a single input; returns the loss before it.

    With more than one tile, inputs are read as they were before the first.
    """
    tile = min(tile, SINGLE_TILE) if len(inputs) == 1 else tile
    scores, n = score(inputs, targets), len(targets)
    labels = np.array([float(j < positives) for j in range(n)])
    steps = rate * np.asarray(weights) * (labels - sigmoid(scores))
    if n > tile:
        inputs = [x.copy() for x in inputs]
    size = tile if len(inputs) == 1 else -(-n // -(-n // tile))
    for first in range(0, n, size):
        part = slice(first, first + size)
        update(steps[:, part], inputs, gradient_rows, targets[part])
    return logistic_loss(scores, positives, weights)


def window_targets(output, centre, noise):
    """The target rows of a centre and their weights: 0 for negative samples that are the centre."""
    return [output[w] for w in (centre, *noise)], [1.0, *(float(w != centre) for w in noise)]


def skipgram(words, output, windows, rate):
    """One step per window; returns the summed loss and the number of positive pairs."""
    loss = pairs = 0
    for centre, contexts, noise in windows:
        if contexts:
            rows = [words[c] for c in contexts]
            targets, weights = window_targets(output, centre, noise)
            loss += learn(rows, rows, targets, 1, weights, rate)
            pairs += len(contexts)
    return loss, pairs


def single_context_windows(windows, negatives):
    """A window for each context, with its own `negatives` of the window's negative samples."""
    return [
        (centre, [context], noise[j * negatives : (j + 1) * negatives])
        for centre, contexts, noise in windows
        for j, context in enumerate(contexts)
    ]


def cbow(words, output, windows, rate, *, mean=True, exact=False):
    """As `skipgram`: the mean or sum of the contexts is the input; its gradient goes to each, divided if `exact`."""
    loss = pairs = 0
    for centre, contexts, noise in windows:
        if contexts:
            rows, m = [words[c] for c in contexts], len(contexts)
            hidden, gradient = np.sum(rows, axis=0) / (m if mean else 1), np.zeros_like(words[0])
            targets, weights = window_targets(output, centre, noise)
            loss += learn([hidden], [gradient], targets, 1, weights, rate)
            scatter_add(1 / m if mean and exact else 1, gradient, rows)
            pairs += 1
    return loss, pairs


def compose_rows(own, ngrams, parts):
    """The mean of each word's own row and the rows of its n-grams; `parts` lists these for each word."""
    return np.array([np.mean([own[w], *(ngrams[b] for b in rows)], axis=0) for w, rows in enumerate(parts)])


def fasttext(own, ngrams, parts, learn_words):
    """A block on composed rows: each change that `learn_words(rows)` makes goes undivided to all parts."""
    rows = compose_rows(own, ngrams, parts)
    before = rows.copy()
    tally = learn_words(rows)
    for w, step in enumerate(rows - before):
        own[w] += step
        for b in parts[w]:
            ngrams[b] += step
    return tally


def weighted_hidden(words, weights, position):
    """The mean of contexts times their position weights, and the (word, weight index) of each context."""
    i, line, start, stop, _ = position
    window = len(weights) // 2
    offsets = [*range(-window, 0), *range(1, window + 1)]
    pairs = [(line[c], offsets.index(c - i)) for c in range(start, stop) if c != i]
    return np.mean([words[w] * weights[p] for w, p in pairs], axis=0) if pairs else None, pairs


def weighted_cbow(words, output, position_weights, positions, rate):
    """CBOW with position weights: contexts get the undivided gradient of the hidden row, weights the exact one."""
    loss = count = 0
    for position in positions:
        hidden, pairs = weighted_hidden(words, position_weights, position)
        if pairs:
            gradient = np.zeros_like(hidden)
            targets, weights = window_targets(output, position[1][position[0]], position[4])
            loss += learn([hidden], [gradient], targets, 1, weights, rate)
            for w, p in pairs:
                old = position_weights[p].copy()
                position_weights[p] += gradient * words[w] / len(pairs)
                words[w] += gradient * old
            count += 1
    return loss, count


def slot_contexts(centre, start, stop, reach):
    """For each slot, the contexts from start to stop whose offset from the centre it covers."""
    return [[c for c in range(start, stop) if low <= c - centre <= high and c != centre] for low, high in reach]


def structured_skipgram(words, output, positions, reach, rate):
    """One step for each slot of each position; `output` is (vocabulary, slots, dim)."""
    loss = pairs = 0
    for i, line, start, stop, noise in positions:
        for slot, contexts in enumerate(slot_contexts(i, start, stop, reach)):
            if contexts:
                rows = [words[line[c]] for c in contexts]
                targets, weights = window_targets(output[:, slot], line[i], noise)
                loss += learn(rows, rows, targets, 1, weights, rate)
                pairs += len(rows)
    return loss, pairs


def slot_rows(words, position, window):
    """The rows of a position's contexts by slot; None for empty slots."""
    i, line, start, stop, _ = position
    slots = [c for c in range(i - window, i + window + 1) if c != i]
    return [words[line[c]] if start <= c < stop else None for c in slots]


def concatenate_rows(rows, dim):
    """Rows one after another, zeros for None."""
    return np.concatenate([np.zeros(dim) if row is None else row for row in rows])


def batches(centres, window, windows_per_draw):
    """The centres of a block that share negative samples: up to `windows_per_draw`, 2 window + 1 apart."""
    spacing = 2 * window + 1
    for base in range(0, len(centres), spacing * windows_per_draw):
        part = centres[base : base + spacing * windows_per_draw]
        yield from (part[i::spacing] for i in range(min(spacing, len(part))))


def learn_batch(output, windows, centres, noise, rate, *, weight=1.0):
    """One step of windows, lists of rows, with their own centres and shared negative samples other than these."""
    dim = output.shape[1] // len(windows[0])
    hidden = [concatenate_rows(rows, dim) for rows in windows]
    targets, own = [output[w] for w in noise], [output[w] for w in centres]
    mask = weight * np.array([[w != centre for w in noise] for centre in centres])
    scores, centre_scores = score(hidden, targets), np.array([x @ c for x, c in zip(hidden, own, strict=True)])
    steps, centre_steps = -rate * mask * sigmoid(scores), rate * sigmoid(-centre_scores)
    for first in range(0, len(noise), UPDATE_TILE - 1):
        part = slice(first, first + UPDATE_TILE - 1)
        for slot in range(len(windows[0])):
            span = slice(slot * dim, (slot + 1) * dim)
            rows = [window[slot] for window in windows]
            update_slot(rows, [c[span] for c in own], [t[span] for t in targets[part]], centre_steps, steps[:, part])
        centre_steps = np.zeros(len(windows))
    return float((softplus(scores) * mask).sum() + softplus(-centre_scores).sum())


def update_slot(rows, own, targets, centre_steps, steps):
    """One slot of all windows: targets see each row as it is in its turn, rows see the targets of before."""
    before, sums = [target.copy() for target in targets], [np.zeros_like(target) for target in targets]
    for row, centre, g, line in zip(rows, own, centre_steps, steps, strict=True):
        if row is not None:
            x, step = row.copy(), g * centre
            centre += g * x
            for h, old, change in zip(line, before, sums, strict=True):
                step = step + h * old
                change += h * x
            row += step
    for target, change in zip(targets, sums, strict=True):
        target += change


def continuous_window(words, output, positions, window, rate, *, windows_per_draw):
    """One step per batch of concatenated windows; `output` is (vocabulary, 2 window dim)."""
    loss = pairs = 0
    for batch in batches(positions, window, windows_per_draw):
        windows = [(slot_rows(words, position, window), position[1][position[0]]) for position in batch]
        windows = [(rows, centre) for rows, centre in windows if any(row is not None for row in rows)]
        if windows:
            loss += learn_batch(output, *zip(*windows, strict=True), batch[0][4], rate)
            pairs += len(windows)
    return loss, pairs


def numerical_gradient(function, table, step=1e-5):
    """The gradient of `function()` with respect to a table, by central differences."""
    gradient = np.zeros_like(table)
    for at in np.ndindex(table.shape):
        value = table[at]
        table[at] = value + step
        up = function()
        table[at] = value - step
        gradient[at] = (up - function()) / (2 * step)
        table[at] = value
    return gradient


def blocks(source, begin, end, key, size, negatives):
    """The windows of each block of a share, with random choices drawn in the kernel's order.

    `line` holds all kept words of the current line; `done` of them have been centres. A block has room for `size`
    words, including those of an unfinished line from `window` before its next centre on. `key` may be a `Stream`.
    """
    stream = key if isinstance(key, Stream) else Stream(key)
    position, line, done = begin, [], 0
    while position < end:
        pairs, filled = [], len(line) - max(0, done - source.window)
        while position < end and filled < size:
            border = min(next(int(at) for at in source.lines if at > position), end)
            while position < border and filled < size:
                word, number = int(source.ids[position]), uniform_uint32(stream.next())
                if word < len(source.keep_thresholds) and number <= int(source.keep_thresholds[word]):
                    line.append(word)
                    filled += 1
                position += 1
            ready = len(line) if position == border else max(done, len(line) - source.window)
            for i in range(done, ready):
                bits = stream.next()
                reach = 1 + uniform_below(bits, source.window) if source.shrink_window else source.window
                pairs.append((line[i], line[max(0, i - reach) : i] + line[i + 1 : i + reach + 1]))
            done = ready
            if position == border:
                line, done = [], 0
        noise = draw_noise(len(pairs), 2 * source.window + 1, source, stream, negatives)
        yield [(*pair, words) for pair, words in zip(pairs, noise, strict=True)]


def draw_noise(centres, spacing, source, stream, negatives):
    """The negative samples of each centre of a block: new ones, or those of the centre `spacing` before."""
    drawn = []
    for i in range(centres):
        is_new = i // spacing % source.windows_per_draw == 0
        new = [draw_word(source.noise, stream.next()) for _ in range(negatives)] if is_new else None
        drawn.append(drawn[i - spacing] if new is None else new)
    return drawn


def dbow_weights(words, noise, negatives):
    """The weights of negative samples that `words` share: `negatives` for each word, but not as its own negative."""
    return [negatives * sum(word != other for other in words) / len(noise) for word in noise]


def dbow(documents, output, groups, rate, *, negatives):
    """One step for each group (document or its tags, words, noise)."""
    loss = pairs = 0
    for document, words, noise in groups:
        targets = [output[w] for w in (*words, *noise)]
        weights = [1.0] * len(words) + dbow_weights(words, noise, negatives)
        rows = [documents[tag] for tag in np.atleast_1d(document)]
        loss += learn(rows, rows, targets, len(words), weights, rate)
        pairs += len(rows) * len(words)
    return loss, pairs


def dm_rows(document, words, position, window):
    """The rows of the document and the contexts; with a `window`, by slot, the last of `words` for empty slots."""
    i, line, start, stop, _ = position
    if window is None:
        return [*(words[line[c]] for c in range(start, stop) if c != i), document]
    slots = [c for c in range(i - window, i + window + 1) if c != i]
    return [document, *(words[line[c]] if start <= c < stop else words[-1] for c in slots)]


def dm_hidden(rows, window, mean):
    """The mean or sum of rows, or with a `window` their concatenation."""
    if window is not None:
        return np.concatenate(rows)
    return np.sum(rows, axis=0) / (len(rows) if mean else 1)


def dm(documents, words, output, positions, rate, *, mean):
    """One step for each (document, position); every row gets the whole gradient."""
    loss = pairs = 0
    for document, position in positions:
        rows = dm_rows(documents[document], words, position, None)
        hidden = dm_hidden(rows, None, mean)
        gradient = np.zeros_like(hidden)
        targets, weights = window_targets(output, position[1][position[0]], position[4])
        loss += learn([hidden], [gradient], targets, 1, weights, rate)
        for row in rows:
            row += gradient
        pairs += 1
    return loss, pairs


def dm_concat(documents, words, output, positions, rate, *, window, windows_per_draw, weight=1.0):
    """One step for each batch of (document, position); each row gets its part of the gradient."""
    loss = 0
    for batch in batches(positions, window, windows_per_draw):
        windows = [dm_rows(documents[document], words, position, window) for document, position in batch]
        centres = [line[i] for _, (i, line, *_) in batch]
        loss += learn_batch(output, windows, centres, batch[0][1][4], rate, weight=weight)
    return loss, len(positions)


def ngrams_at(ids, ngrams, position, end):
    """The n-grams, of {tokens: word}, that start at a position and end before `end`, by number of tokens."""
    longest = max(map(len, ngrams))
    pieces = {n: tuple(ids[position : position + n]) for n in range(1, min(longest, end - position) + 1)}
    return {n: ngrams[piece] for n, piece in pieces.items() if piece in ngrams}


def lattice(source, ngrams, begin, end, key, size, negatives):
    """For each block of a share, the (lefts, rights, noise) of each position with adjacent n-grams.

    Subsampling draws go position by position, shortest n-gram first; negative samples are drawn at the end of a block.
    N-grams that start before the share and end in it belong to it. A block has `size` positions; a line end counts as
    one.
    """
    stream, ids, longest = Stream(key), [int(i) for i in source.ids], max(map(len, ngrams))
    line_of = [next(k for k, at in enumerate(source.lines) if at > i) for i in range(len(ids))]
    starts = {}

    def read(position):
        candidates = ngrams_at(ids, ngrams, position, int(source.lines[line_of[position]]))
        starts[position] = {
            n: word
            for n, word in candidates.items()
            if uniform_uint32(stream.next()) <= int(source.keep_thresholds[word])
        }

    if begin < end:
        first = int(source.lines[line_of[begin] - 1])
        for position in range(max(first, begin - longest), begin):
            read(position)
    position = begin
    while position < end:
        positions, count = [], 0
        while position < end and count < size:
            read(position)
            position += 1
            is_line_end = position in source.lines
            positions.append((position - 1, is_line_end))
            count += 1 + is_line_end
        pairs = []
        for at, is_line_end in positions:
            lefts = [
                starts[at - n][n]
                for n in range(1, longest + 1)
                if n in starts.get(at - n, ()) and line_of[at - n] == line_of[at]
            ]
            pairs.append((lefts, [word for _, word in sorted(starts[at].items())]))
            pairs += [([], [])] * is_line_end
        noise = draw_noise(len(pairs), longest + 1, source, stream, negatives * -(-longest // 2))
        yield [(*pair, words) for pair, words in zip(pairs, noise, strict=True) if all(pair)]


def lattice_targets(output, positives, noise, negatives):
    """The rows of p positives, with `negatives` negative samples for every two of them, and their weights."""
    groups = -(-len(positives) // 2)
    samples = noise[: groups * negatives]
    weights = [1.0] * len(positives) + [sum(w != word for word in positives) / groups for w in samples]
    return [output[w] for w in (*positives, *samples)], weights


def sembei(words, right, left, adjacent, rate, negatives, *, parts=None):
    """Two steps at each (lefts, rights, noise); vectors are rows of `words`, or sums of rows of their `parts`."""
    loss = pairs = 0
    for lefts, rights, noise in adjacent:
        for output, inputs, positives in ((right, lefts, rights), (left, rights, lefts)):
            targets, weights = lattice_targets(output, positives, noise, negatives)
            rows = [words[w] for w in inputs]
            if parts is None:
                loss += learn(rows, rows, targets, len(positives), weights, rate)
            else:
                hidden = [np.sum([words[part] for part in parts[w]], axis=0) for w in inputs]
                gradients = [np.zeros_like(h) for h in hidden]
                loss += learn(hidden, gradients, targets, len(positives), weights, rate)
                for w, gradient in zip(inputs, gradients, strict=True):
                    scatter_add(1, gradient, [words[part] for part in parts[w]])
            pairs += len(inputs) * len(positives)
    return loss, pairs
