"""Learning a lexicon of parts of speech."""

import learn_lexicon

from embeddings.corpora.phrases.pos_types import read_lexicon


def test_a_lexicon_is_learned_from_a_treebank(tmp_path):
    tokens = [("The", "DET"), ("play", "VERB"), ("Play", "NOUN"), ("play", "VERB"), ("run", "VERB"), ("run", "NOUN")]
    tokens += [("B", "NOUN"), ("is", "AUX"), ("x1", "NOUN")]
    lines = [f"{i}\t{word}\t_\t{tag}" + "\t_" * 6 for i, (word, tag) in enumerate(tokens, 1)]
    lines = ["# text", "1-2\tCannot\t_\tNOUN" + "\t_" * 6, *lines, "", "8.1\tgone\t_\tVERB" + "\t_" * 6]
    (tmp_path / "bank.conllu").write_text("\n".join(lines))
    learn_lexicon.main([str(tmp_path / "tags"), str(tmp_path / "bank.conllu")])
    assert (tmp_path / "tags").read_text() == "play\tVERB\nrun\tNOUN\nthe\tDET\n"
    assert read_lexicon(tmp_path / "tags") == {"play": "VERB", "run": "NOUN", "the": "DET"}
