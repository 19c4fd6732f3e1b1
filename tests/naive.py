"""Slow, obvious versions of what is compiled: plain Python and numpy, one word, row and number after another.

Rows are numpy views, so that a row that stands twice in a list is one row, as it is for the kernels.
"""

import numpy as np

MASK = 2**64 - 1


def random(key, counter):
    """64 random bits: splitmix64 of a key and a counter."""
    z = (key + counter * 0x9E3779B97F4A7C15) & MASK
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


class Stream:
    """The random numbers of a key, one after another."""

    def __init__(self, key):
        self.key, self.counter = int(key), 0

    def next(self):
        self.counter += 1
        return random(self.key, self.counter - 1)


def below(bits, n):
    return (bits >> 32) * n >> 32


def coin(bits):
    return bits & 0xFFFFFFFF


def pick(table, bits):
    word = below(bits, len(table))
    return word if coin(bits) <= int(table[word][0]) else int(table[word][1])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.logaddexp(0, x)


def score(inputs, targets):
    """S = X O', one dot product each."""
    return np.array([[float(x @ o) for o in targets] for x in inputs]).reshape(len(inputs), len(targets))


def update(steps, read, moved, targets):
    """O += G' X and X += G O of before; inputs one after another, each read and moved at its turn."""
    before, gathered = [o.copy() for o in targets], [np.zeros_like(o) for o in targets]
    for i, (x, goal) in enumerate(zip(read, moved, strict=True)):
        step = np.zeros_like(goal)
        for j, o in enumerate(before):
            gathered[j] += steps[i, j] * x
            step += steps[i, j] * o
        goal += step
    for o, total in zip(targets, gathered, strict=True):
        o += total


def total(factor, goal, rows):
    """Y += f (x_1 + ... + x_m)."""
    goal += factor * np.sum(rows, axis=0, initial=0)


def share(factor, source, rows):
    """x_i += f y."""
    for row in rows:
        row += factor * source


def loss_of(scores, positives, weights):
    """The sum of -W log sigmoid(s) over positives and of -W log sigmoid(-s) over the others."""
    signs = [-1 if j < positives else 1 for j in range(scores.shape[1])]
    return float(
        sum(w * softplus(sign * scores[:, j]).sum() for j, (w, sign) in enumerate(zip(weights, signs, strict=True)))
    )


def learn(read, moved, targets, positives, weights, rate, *, at_once):
    """One step of a bundle, in passes over `at_once` targets; gives the loss before it.

    When there is more than one pass, inputs are read as they were before the first.
    """
    scores, n = score(read, targets), len(targets)
    labels = np.array([float(j < positives) for j in range(n)])
    steps = rate * np.asarray(weights) * (labels - sigmoid(scores))
    if n > at_once:
        read = [x.copy() for x in read]
    for first in range(0, n, at_once):
        part = slice(first, first + at_once)
        update(steps[:, part], read, moved, targets[part])
    return loss_of(scores, positives, weights)


def window(output, centre, noise):
    """The target rows of a centre and their weights: noise that is the centre itself counts for nothing."""
    return [output[w] for w in (centre, *noise)], [1.0, *(float(w != centre) for w in noise)]


def skipgram(words, output, choices, rate, *, at_once):
    """One step for each (centre, contexts, noise) of `choices`; gives the sum of the loss, and its pairs."""
    lost = pairs = 0
    for centre, contexts, noise in choices:
        if contexts:
            rows = [words[c] for c in contexts]
            targets, weights = window(output, centre, noise)
            lost += learn(rows, rows, targets, 1, weights, rate, at_once=at_once)
            pairs += len(contexts)
    return lost, pairs


def pairs_of(choices, negatives):
    """Each context as a window of its own, with its own `negatives` of the noise words of its centre."""
    return [
        (centre, [context], noise[j * negatives : (j + 1) * negatives])
        for centre, contexts, noise in choices
        for j, context in enumerate(contexts)
    ]


def cbow(words, output, choices, rate, *, at_once, mean=True, exact=False):
    """As `skipgram`: the mean or sum of the contexts goes in, its gradient goes back, divided if exact."""
    lost = pairs = 0
    for centre, contexts, noise in choices:
        if contexts:
            rows, m = [words[c] for c in contexts], len(contexts)
            hidden, gradient = np.sum(rows, axis=0) / (m if mean else 1), np.zeros_like(words[0])
            targets, weights = window(output, centre, noise)
            lost += learn([hidden], [gradient], targets, 1, weights, rate, at_once=at_once)
            share(1 / m if mean and exact else 1, gradient, rows)
            pairs += 1
    return lost, pairs


def composed(own, ngrams, made):
    """The mean of each word's own row and the rows of its n-grams; `made` lists these for each word."""
    return np.array([np.mean([own[w], *(ngrams[b] for b in rows)], axis=0) for w, rows in enumerate(made)])


def fasttext(own, ngrams, made, learn_words):
    """A block on composed rows: what `learn_words(rows)` moves them by goes, whole, to all that they are made of."""
    rows = composed(own, ngrams, made)
    before = rows.copy()
    told = learn_words(rows)
    for w, step in enumerate(rows - before):
        own[w] += step
        for b in made[w]:
            ngrams[b] += step
    return told


def weighted_hidden(words, positions, place):
    """The mean of contexts times the weights of where they stand, and the (word, position) of each."""
    i, line, start, stop, _ = place
    window = len(positions) // 2
    found = [(line[c], [*range(-window, 0), *range(1, window + 1)].index(c - i)) for c in range(start, stop) if c != i]
    return np.mean([words[w] * positions[p] for w, p in found], axis=0) if found else None, found


def weighted_cbow(words, output, positions, places, rate, *, at_once):
    """CBOW with position weights: contexts take the gradient of the hidden row undivided, weights the exact one."""
    lost = pairs = 0
    for place in places:
        hidden, found = weighted_hidden(words, positions, place)
        if found:
            gradient = np.zeros_like(hidden)
            targets, weights = window(output, place[1][place[0]], place[4])
            lost += learn([hidden], [gradient], targets, 1, weights, rate, at_once=at_once)
            for w, p in found:
                old = positions[p].copy()
                positions[p] += gradient * words[w] / len(found)
                words[w] += gradient * old
            pairs += 1
    return lost, pairs


def weighted_cbow_loss(words, output, positions, places):
    """The loss of all places at fixed tables."""
    lost = 0.0
    for place in places:
        hidden, found = weighted_hidden(words, positions, place)
        if found:
            targets, weights = window(output, place[1][place[0]], place[4])
            lost += loss_of(score([hidden], targets), 1, weights)
    return lost


def slots_of(centre, start, stop, reach):
    """For each slot, the positions from start to stop that stand in it around `centre`."""
    return [[c for c in range(start, stop) if low <= c - centre <= high and c != centre] for low, high in reach]


def structured(words, output, places, reach, rate, *, at_once):
    """One step for each slot of each (i, line, start, stop, noise); `output` is (vocabulary, slots, dim)."""
    lost = pairs = 0
    for i, line, start, stop, noise in places:
        for slot, positions in enumerate(slots_of(i, start, stop, reach)):
            if positions:
                rows = [words[line[c]] for c in positions]
                targets, weights = window(output[:, slot], line[i], noise)
                lost += learn(rows, rows, targets, 1, weights, rate, at_once=at_once)
                pairs += len(rows)
    return lost, pairs


def side_by_side(words, place, reach):
    """The rows of the contexts of a place, each in its slot; None where there is none."""
    i, line, start, stop, _ = place
    slots = [c for c in range(i - reach, i + reach + 1) if c != i]
    return [words[line[c]] if start <= c < stop else None for c in slots]


def joined(rows, dim):
    """Rows one after another, zeros for None."""
    return np.concatenate([np.zeros(dim) if row is None else row for row in rows])


def sharing_noise(centres, reach, sharing):
    """Those of a block that share noise words: up to `sharing`, each 2 reach + 1 after the one before."""
    apart = 2 * reach + 1
    for base in range(0, len(centres), apart * sharing):
        part = centres[base : base + apart * sharing]
        yield from (part[i::apart] for i in range(min(apart, len(part))))


def learn_together(output, windows, centres, noise, rate, *, at_once, weight=1.0):
    """Windows, each a list of rows, meet the noise words they share, but not their own centre, and each its centre."""
    dim = output.shape[1] // len(windows[0])
    hidden = [joined(rows, dim) for rows in windows]
    targets, own = [output[w] for w in noise], [output[w] for w in centres]
    other = weight * np.array([[w != centre for w in noise] for centre in centres])
    scores, centred = score(hidden, targets), np.array([x @ c for x, c in zip(hidden, own, strict=True)])
    steps, first_steps = -rate * other * sigmoid(scores), rate * sigmoid(-centred)
    for first in range(0, len(noise), at_once - 1):
        part = slice(first, first + at_once - 1)
        for slot in range(len(windows[0])):
            span = slice(slot * dim, (slot + 1) * dim)
            rows = [window[slot] for window in windows]
            slot_step(rows, [c[span] for c in own], [t[span] for t in targets[part]], first_steps, steps[:, part])
        first_steps = np.zeros(len(windows))
    return float((softplus(scores) * other).sum() + softplus(-centred).sum())


def slot_step(rows, own, targets, first_steps, steps):
    """One slot of all windows: noise meets each row as it then is, and each row what the noise was before."""
    before, sums = [target.copy() for target in targets], [np.zeros_like(target) for target in targets]
    for row, centre, g, line in zip(rows, own, first_steps, steps, strict=True):
        if row is not None:
            x, step = row.copy(), g * centre
            centre += g * x
            for h, old, total in zip(line, before, sums, strict=True):
                step = step + h * old
                total += h * x
            row += step
    for target, total in zip(targets, sums, strict=True):
        target += total


def continuous_window(words, output, places, reach, rate, *, sharing, at_once):
    """Contexts side by side go in, windows that share noise words at once; `output` is (vocabulary, 2 reach dim)."""
    lost = pairs = 0
    for group in sharing_noise(places, reach, sharing):
        made = [(side_by_side(words, place, reach), place[1][place[0]]) for place in group]
        made = [(rows, centre) for rows, centre in made if any(row is not None for row in rows)]
        if made:
            lost += learn_together(output, *zip(*made, strict=True), group[0][4], rate, at_once=at_once)
            pairs += len(made)
    return lost, pairs


def structured_loss(words, output, places, reach):
    """The loss of all slots of all places at fixed tables."""
    lost = 0.0
    for i, line, start, stop, noise in places:
        for slot, positions in enumerate(slots_of(i, start, stop, reach)):
            targets, weights = window(output[:, slot], line[i], noise)
            lost += loss_of(score([words[line[c]] for c in positions], targets), 1, weights)
    return lost


def continuous_window_loss(words, output, places, reach):
    """The loss of all places at fixed tables."""
    lost = 0.0
    for i, line, start, stop, noise in places:
        rows = side_by_side(words, (i, line, start, stop, noise), reach)
        if any(row is not None for row in rows):
            targets, weights = window(output, line[i], noise)
            lost += loss_of(score([joined(rows, words.shape[1])], targets), 1, weights)
    return lost


def skipgram_loss(words, output, choices):
    """The loss of all windows at fixed tables."""
    lost = 0.0
    for centre, contexts, noise in choices:
        targets, weights = window(output, centre, noise)
        lost += loss_of(score([words[c] for c in contexts], targets), 1, weights)
    return lost


def cbow_loss(words, output, choices, *, mean):
    """The loss of all windows at fixed tables."""
    lost = 0.0
    for centre, contexts, noise in choices:
        if contexts:
            hidden = np.sum([words[c] for c in contexts], axis=0) / (len(contexts) if mean else 1)
            targets, weights = window(output, centre, noise)
            lost += loss_of(score([hidden], targets), 1, weights)
    return lost


def slope(function, table, step=1e-5):
    """The gradient of `function()` by central differences over every number of a table."""
    found = np.zeros_like(table)
    for at in np.ndindex(table.shape):
        kept = table[at]
        table[at] = kept + step
        up = function()
        table[at] = kept - step
        found[at] = (up - function()) / (2 * step)
        table[at] = kept
    return found


def blocks(source, begin, end, key, size, negatives):
    """For each block of a share, its (centre, contexts, noise), with choices drawn in the kernel's order.

    A line is kept whole here, as the list of its words that stayed; `done` of them have been centres. A
    block has room for `size` words, with those of a line that goes on, from `window` before the next centre.
    `key` may be a `Stream`, which is then drawn from on.
    """
    stream = key if isinstance(key, Stream) else Stream(key)
    position, line, done = begin, [], 0
    while position < end:
        found, held = [], len(line) - max(0, done - source.window)
        while position < end and held < size:
            border = min(next(int(at) for at in source.lines if at > position), end)
            while position < border and held < size:
                word, toss = int(source.ids[position]), coin(stream.next())
                if word < len(source.keep) and toss <= int(source.keep[word]):
                    line.append(word)
                    held += 1
                position += 1
            ready = len(line) if position == border else max(done, len(line) - source.window)
            for i in range(done, ready):
                bits = stream.next()
                reach = 1 + below(bits, source.window) if source.shrink else source.window
                found.append((line[i], line[max(0, i - reach) : i] + line[i + 1 : i + reach + 1]))
            done = ready
            if position == border:
                line, done = [], 0
        noise = noise_of(len(found), source, stream, negatives)
        yield [(*pair, words) for pair, words in zip(found, noise, strict=True)]


def noise_of(centres, source, stream, negatives):
    """The noise words of each centre of a block: every 2 window + 1 centres share draws with those before them."""
    drawn, apart = [], 2 * source.window + 1
    for i in range(centres):
        fresh = i // apart % source.sharing == 0
        drawn.append([pick(source.noise, stream.next()) for _ in range(negatives)] if fresh else drawn[i - apart])
    return drawn


def dbow_weights(words, noise, negatives):
    """What each noise word weighs that `words` share: they are owed `negatives` each, but not themselves."""
    return [negatives * sum(word != other for other in words) / len(noise) for word in noise]


def dbow(documents, output, groups, rate, *, negatives, at_once):
    """One step for each (document, words, noise): the document goes in, its words and their noise are scored."""
    lost = pairs = 0
    for document, words, noise in groups:
        targets = [output[w] for w in (*words, *noise)]
        weights = [1.0] * len(words) + dbow_weights(words, noise, negatives)
        row = documents[document]
        lost += learn([row], [row], targets, len(words), weights, rate, at_once=at_once)
        pairs += len(words)
    return lost, pairs


def dbow_loss(documents, output, groups, *, negatives):
    """The loss of all groups at fixed tables."""
    lost = 0.0
    for document, words, noise in groups:
        targets = [output[w] for w in (*words, *noise)]
        weights = [1.0] * len(words) + dbow_weights(words, noise, negatives)
        lost += loss_of(score([documents[document]], targets), len(words), weights)
    return lost


def dm_rows(document, words, place, reach):
    """The document's row and those of the contexts; with a `reach`, of each slot, the last of `words` where none is."""
    i, line, start, stop, _ = place
    if reach is None:
        return [*(words[line[c]] for c in range(start, stop) if c != i), document]
    slots = [c for c in range(i - reach, i + reach + 1) if c != i]
    return [document, *(words[line[c]] if start <= c < stop else words[-1] for c in slots)]


def dm_hidden(rows, reach, mean):
    """What goes in: the mean or sum of rows, or with a `reach` all of them side by side."""
    if reach is not None:
        return np.concatenate(rows)
    return np.sum(rows, axis=0) / (len(rows) if mean else 1)


def dm(documents, words, output, owned, rate, *, mean, at_once):
    """One step for each (document, place); the gradient goes to each row undivided."""
    lost = pairs = 0
    for number, place in owned:
        rows = dm_rows(documents[number], words, place, None)
        hidden = dm_hidden(rows, None, mean)
        gradient = np.zeros_like(hidden)
        targets, weights = window(output, place[1][place[0]], place[4])
        lost += learn([hidden], [gradient], targets, 1, weights, rate, at_once=at_once)
        for row in rows:
            row += gradient
        pairs += 1
    return lost, pairs


def dm_concat(documents, words, output, owned, rate, *, reach, sharing, at_once, weight=1.0):
    """One step for the windows that share noise words; each row takes its part of the gradient."""
    lost = 0
    for group in sharing_noise(owned, reach, sharing):
        windows = [dm_rows(documents[number], words, place, reach) for number, place in group]
        centres = [line[i] for _, (i, line, *_) in group]
        lost += learn_together(output, windows, centres, group[0][1][4], rate, at_once=at_once, weight=weight)
    return lost, len(owned)


def dm_loss(documents, words, output, owned, *, reach, mean):
    """The loss of all places at fixed tables."""
    lost = 0.0
    for number, place in owned:
        hidden = dm_hidden(dm_rows(documents[number], words, place, reach), reach, mean)
        targets, weights = window(output, place[1][place[0]], place[4])
        lost += loss_of(score([hidden], targets), 1, weights)
    return lost


def starts_of(ids, ngrams, position, end):
    """The n-grams, of {tokens: word}, that start at a position and end before `end`, by their number of tokens."""
    longest = max(map(len, ngrams))
    pieces = {n: tuple(ids[position : position + n]) for n in range(1, min(longest, end - position) + 1)}
    return {n: ngrams[piece] for n, piece in pieces.items() if piece in ngrams}


def lattice(source, ngrams, begin, end, key, size, negatives):
    """For each block of a share, the (lefts, rights, noise) of each place where n-grams meet.

    Coins are drawn place by place, the shortest n-gram first, and noise words at the end of a block. The n-grams
    that start before the share and end in it are its own too. A block has `size` places, an end of a line is one.
    """
    stream, ids, longest = Stream(key), [int(i) for i in source.ids], max(map(len, ngrams))
    line_of = [next(k for k, at in enumerate(source.lines) if at > i) for i in range(len(ids))]
    lefts, rights = {}, {}

    def read(position):
        found = starts_of(ids, ngrams, position, int(source.lines[line_of[position]]))
        lefts[position] = {n: word for n, word in found.items() if coin(stream.next()) <= int(source.keep[word])}
        rights[position] = lefts[position] if source.both else found

    if begin < end:
        first = int(source.lines[line_of[begin] - 1])
        for position in range(max(first, begin - longest), begin):
            read(position)
    position = begin
    while position < end:
        places, count = [], 0
        while position < end and count < size:
            read(position)
            position += 1
            ends = position in source.lines
            places.append((position - 1, ends))
            count += 1 + ends
        drawn, found = [], []
        for place, last in places:
            ending = [
                lefts[place - n][n]
                for n in range(1, longest + 1)
                if n in lefts.get(place - n, ()) and line_of[place - n] == line_of[place]
            ]
            found.append((ending, [word for _, word in sorted(rights[place].items())]))
            found += [([], [])] * last
        for i in range(len(found)):
            fresh = i // (longest + 1) % source.sharing == 0
            count = negatives * -(-longest // 2)
            noise = [pick(source.noise, stream.next()) for _ in range(count)] if fresh else drawn[i - longest - 1]
            drawn.append(noise)
        yield [(*pair, noise) for pair, noise in zip(found, drawn, strict=True) if all(pair)]


def meeting(output, positives, noise, negatives):
    """The target rows of p positives with `negatives` noise words for every two of them, and their weights."""
    groups = -(-len(positives) // 2)
    drawn = noise[: groups * negatives]
    weights = [1.0] * len(positives) + [sum(w != word for word in positives) / groups for w in drawn]
    return [output[w] for w in (*positives, *drawn)], weights


def sembei(words, right, left, choices, rate, negatives, *, at_once, parts=None):
    """At each (lefts, rights, noise) two steps; vectors are rows of `words`, or sums of those of their `parts`."""
    lost = pairs = 0
    for lefts, rights, noise in choices:
        for output, inputs, positives in ((right, lefts, rights), (left, rights, lefts)):
            targets, weights = meeting(output, positives, noise, negatives)
            rows = [words[w] for w in inputs]
            if parts is None:
                lost += learn(rows, rows, targets, len(positives), weights, rate, at_once=at_once)
            else:
                hidden = [np.sum([words[part] for part in parts[w]], axis=0) for w in inputs]
                gradients = [np.zeros_like(h) for h in hidden]
                lost += learn(hidden, gradients, targets, len(positives), weights, rate, at_once=at_once)
                for w, gradient in zip(inputs, gradients, strict=True):
                    share(1, gradient, [words[part] for part in parts[w]])
            pairs += len(inputs) * len(positives)
    return lost, pairs


def sembei_loss(words, right, left, choices, negatives, *, parts=None):
    """The loss of all places at fixed tables."""
    lost = 0.0
    for lefts, rights, noise in choices:
        for output, inputs, positives in ((right, lefts, rights), (left, rights, lefts)):
            targets, weights = meeting(output, positives, noise, negatives)
            rows = [np.sum([words[part] for part in (parts[w] if parts else [w])], axis=0) for w in inputs]
            lost += loss_of(score(rows, targets), len(positives), weights)
    return lost
