"""Real translation, for whoever brings a corpus: `pytest specs/capstone --corpus FOLDER`."""

from functools import partial
from pathlib import Path

import pytest

from kata.part11_decoding import beam_search_decode
from specs.capstone.apprentice import greedy
from specs.capstone.corpus import read_corpus
from specs.capstone.translator import Translator

pytestmark = pytest.mark.timeout(0)  # training takes as long as it takes
EVERY = 400  # steps between two evaluations
ASKED = 500  # validation sentences
FIRST_GATE = 15.0  # BLEU after the first 400 steps


def bleu(hypotheses: list[str], references: list[str]) -> float:
    """BLEU by sacrebleu, without regard to case."""
    sacrebleu = pytest.importorskip("sacrebleu", reason="needs `pip install '.[translate]'`")
    return float(sacrebleu.corpus_bleu(hypotheses, [references], lowercase=True).score)


def test_translation_is_learned(pytestconfig, progress_line, picture_folder, say) -> None:
    """After 400 steps the translator scores at least 15 BLEU; the whole curve is told."""
    corpus = read_corpus(Path(pytestconfig.getoption("corpus")))
    translator = Translator(corpus, _folder(picture_folder, corpus.source, corpus.target))
    steps = pytestconfig.getoption("steps")
    say(_opening(translator, steps))
    for stop in [*range(EVERY, steps, EVERY), steps]:
        if stop <= translator.state.step:
            continue
        translator.train(stop, progress_line(f"{corpus.source}-{corpus.target}"))
        said = translator.translate([source for source, _ in corpus.val[:ASKED]], greedy)
        translator.keep(bleu(said, corpus.val_targets[:ASKED]))
        say(_evaluation(translator, said))
        assert translator.curve.get(EVERY, FIRST_GATE) >= FIRST_GATE, "it has learned too little"
    translator.recall_best()
    say(_ending(translator))


def _folder(parent: Path, source: str, target: str) -> Path:
    folder = parent / f"{source}-{target}"
    folder.mkdir(exist_ok=True)
    return folder


def _opening(translator: Translator, steps: int) -> str:
    corpus, done = translator.corpus, translator.state.step
    taken_up = f", taken up after step {done} from {translator.folder}" if done else ""
    return (
        f"{corpus.source} to {corpus.target}: {len(corpus.train):,} sentences, "
        f"{len(translator.vocabulary):,} words, {steps} steps{taken_up}"
    )


def _evaluation(translator: Translator, said: list[str]) -> str:
    step = translator.state.step
    lines = [
        f"after {step} steps: BLEU {translator.curve[step]:.1f} on {len(said)} validation sentences"
    ]
    for index in (0, 100, 200):
        source = " ".join(translator.corpus.val[index][0])
        lines += [f"  {source}", f"    said      {said[index]}"]
        lines += [f"    expected  {translator.corpus.val_targets[index].strip()}"]
    return "\n".join(lines)


def _ending(translator: Translator) -> str:
    corpus = translator.corpus
    sources = [source for source, _ in corpus.test]
    by_greedy = bleu(translator.translate(sources, greedy), corpus.test_targets)
    search = partial(beam_search_decode, beam_size=4)
    by_beam = bleu(translator.translate(sources, search), corpus.test_targets)
    curve = ", ".join(f"{step}: {score:.1f}" for step, score in sorted(translator.curve.items()))
    scores = f"greedy {by_greedy:.1f}, beam of 4 {by_beam:.1f}"
    return f"validation BLEU by step  {curve}\ntest BLEU  {scores}"
